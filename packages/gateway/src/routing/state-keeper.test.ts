import { expect, test } from 'vitest';
import type { RouterState, RouterStateStore } from '../ports/router-state-store.ts';
import { StateKeeper } from './state-keeper.ts';

const clock = { now: () => 5, monotonic: () => 5 };

/** A router that has learned something new of these targets. */
function routerOf(keys: string[]) {
  const restored: RouterState[] = [];
  return {
    keys,
    restored,
    takeChanged: (nowMs: number, statesMax = Number.POSITIVE_INFINITY) =>
      keys.splice(0, statesMax).map((key) => ({ kind: 'target', key, savedAtMs: nowMs, text: key }) as const),
    restore: (states: readonly RouterState[]) => void restored.push(...states),
  };
}

function storeOf() {
  const saves: string[][] = [];
  const gate = { isBroken: false, wait: Promise.resolve() };
  const store: RouterStateStore = {
    load: () => Promise.resolve([{ kind: 'model', key: 'm', savedAtMs: 1, text: 't' }]),
    save: async (states) => {
      await gate.wait;
      if (gate.isBroken) throw new Error('the disk is full');
      saves.push(states.map(({ key }) => key));
    },
  };
  return { store, saves, gate };
}

test('restores what the store has', async () => {
  const [router, { store }] = [routerOf([]), storeOf()];
  await new StateKeeper(router, store, clock).restore();
  expect(router.restored).toMatchObject([{ kind: 'model', key: 'm' }]);
});

test('writes what has changed, once, and nothing when nothing has', async () => {
  const [router, { store, saves }] = [routerOf(['a', 'b']), storeOf()];
  const keeper = new StateKeeper(router, store, clock);
  await keeper.save();
  await keeper.save();
  expect(saves).toEqual([['a', 'b']]);
});

test('keeps what could not be written, for the next time', async () => {
  const [router, { store, saves, gate }] = [routerOf(['a']), storeOf()];
  const keeper = new StateKeeper(router, store, clock);
  gate.isBroken = true;
  await keeper.save();
  gate.isBroken = false;
  router.keys.push('b');
  await keeper.save();
  expect(saves).toEqual([['a', 'b']]);
});

test('one save at a time; the last one, at the end, writes everything', async () => {
  const [router, { store, saves, gate }] = [routerOf(['a']), storeOf()];
  const keeper = new StateKeeper(router, store, clock);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.wait = promise;
  void keeper.save();
  void keeper.save();
  router.keys.push(...Array.from({ length: 1200 }, (_, n) => `t${n}`));
  const closed = keeper.close();
  resolve();
  await closed;
  expect(saves.map((keys) => keys.length)).toEqual([1, 1200]);
});
