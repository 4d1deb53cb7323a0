import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RouterState, Store } from '../../ports/store.ts';
import { epochMs } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const state: RouterState = { kind: 'target', key: 'a\nm\n1f', savedAtMs: epochMs, text: '{"version":1}' };

/** The part of the suite about what the router keeps. */
export function describeRouterStates(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
  });
  afterEach(async () => {
    await site.dispose();
  });

  const loaded = async () =>
    (await store.routerStates.load()).toSorted((a, b) =>
      `${a.kind} ${a.key}` < `${b.kind} ${b.key}` ? -1 : 1,
    );

  test('gives back what was saved, the newest of each name, to every process', async () => {
    const credential = { ...state, kind: 'credential', key: 'a\n1f' } as const;
    const newer = { ...state, savedAtMs: epochMs + 1, text: 'newer' };
    await store.routerStates.save([credential, state], 0);
    await store.routerStates.save([newer], 0);
    expect(await loaded()).toEqual([credential, newer]);
    const other = await site.open();
    expect(await other.routerStates.load()).toHaveLength(2);
  });

  test('keeps names apart by their kind', async () => {
    const states = (['credential', 'model', 'target'] as const).map((kind) => ({
      ...state,
      kind,
      text: kind,
    }));
    await store.routerStates.save(states, 0);
    expect(await loaded()).toEqual(states);
  });

  test('forgets what was saved before a time, also when there is nothing new', async () => {
    await store.routerStates.save([state, { ...state, key: 'b', savedAtMs: epochMs + 1 }], 0);
    await store.routerStates.save([], epochMs + 1);
    expect((await loaded()).map(({ key }) => key)).toEqual(['b']);
  });

  test('takes more at once than fits one statement', async () => {
    const states = Array.from({ length: 2500 }, (_, n) => ({ ...state, key: `t${n}` }));
    await store.routerStates.save(states, 0);
    await store.routerStates.save(states, 0);
    expect(await loaded()).toHaveLength(2500);
  });
}
