import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallClaim } from '../../ports/call-claims.ts';
import type { Store } from '../../ports/store.ts';
import { epochMs } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const claim: CallClaim = {
  ...{ keyId: 'key-1', name: 'once', fingerprint: 'a', traceId: 'first', nowMs: epochMs },
};
const second = { ...claim, traceId: 'second', nowMs: epochMs + 1 };

/** The part of the suite about calls that their callers have named. */
export function describeClaims(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
    await store.prepare();
  });
  afterEach(async () => {
    await site.dispose();
  });

  test('a name is claimed once, whoever asks', async () => {
    const other = await site.open();
    await other.prepare();
    const results = await Promise.all([store.claims.claim(claim, null), other.claims.claim(second, null)]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['claimed', 'running']);
  });

  test('of many that ask for one name at once one has it, and each name is somebody’s', async () => {
    const asked = Array.from({ length: 300 }, (_, at) =>
      store.claims.claim({ ...claim, name: `name-${at % 100}`, traceId: `call-${at}` }, null),
    );
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 'claimed'));
    expect(new Set(kinds.slice(100))).toEqual(new Set(['running']));
  });

  test('keys have names of their own', async () => {
    await store.claims.claim(claim, null);
    expect(await store.claims.claim({ ...second, keyId: 'key-2' }, null)).toEqual({ kind: 'claimed' });
    expect(await store.claims.claim({ ...second, name: 'twice' }, null)).toEqual({ kind: 'claimed' });
  });

  test('under one name there is one request, also when it is over', async () => {
    await store.claims.claim(claim, null);
    const other = { ...second, fingerprint: 'b' };
    expect(await store.claims.claim(other, null)).toEqual({ kind: 'other-body' });
    await store.claims.conclude(claim);
    expect(await store.claims.claim(other, null)).toEqual({ kind: 'other-body' });
  });

  test('when the call is over it is told which one it was, and one other may take its place', async () => {
    await store.claims.claim(claim, null);
    await store.claims.conclude(claim);
    expect(await store.claims.claim(second, null)).toEqual({ kind: 'over', traceId: 'first' });
    expect(await store.claims.claim(second, 'first')).toEqual({ kind: 'claimed' });
    expect(await store.claims.claim({ ...second, traceId: 'third' }, 'first')).toEqual({ kind: 'running' });
    // The first one's end is not the second one's.
    await store.claims.conclude(claim);
    expect(await store.claims.claim({ ...second, traceId: 'third' }, null)).toEqual({ kind: 'running' });
  });

  test('a call whose process has ended is over', async () => {
    const other = await site.open();
    await other.prepare();
    await other.claims.claim(claim, null);
    expect(await store.claims.claim(second, null)).toEqual({ kind: 'running' });
    await other.close();
    expect(await store.claims.claim(second, null)).toEqual({ kind: 'over', traceId: 'first' });
  });

  const later = { ...second, fingerprint: 'b', nowMs: epochMs + 86_400_001 };

  test('a name is free again after a day', async () => {
    await store.claims.claim(claim, null);
    await store.claims.conclude(claim);
    expect(await store.claims.claim(later, null)).toEqual({ kind: 'claimed' });
  });

  test('after a day the name of a call whose process has died is free, too', async () => {
    const other = await site.open();
    await other.prepare();
    await other.claims.claim(claim, null);
    await other.close();
    expect(await store.claims.claim(later, null)).toEqual({ kind: 'claimed' });
  });

  test('a clock that jumps by a day frees no name of a call that is not over', async () => {
    const other = await site.open();
    await other.prepare();
    await other.claims.claim(claim, null);
    expect(await store.claims.claim({ ...later, fingerprint: 'a' }, null)).toEqual({ kind: 'running' });
    await other.claims.conclude(claim);
    expect(await store.claims.claim(later, null)).toEqual({ kind: 'claimed' });
  });
}
