import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Model, Target } from '../catalogue/catalogue.ts';
import type { RouterState, RouterStateStore } from '../ports/store.ts';
import type { Outcome } from './outcomes.ts';
import {
  answered,
  asking,
  brokenOff,
  chance,
  refusedConnection,
  refusedWith,
  streamed,
  timedOut,
} from './route.fixture.ts';
import { Router } from './router.ts';
import { readSaved, routerStateMsMax, type Saved, StateKeeper, writeSaved } from './saved.ts';

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

const epochMs = 1_790_000_000_000;

/** A process with its own router, and chance that can be set back. */
function openProcess() {
  let uniform = chance(1);
  const router = new Router({
    attemptsMax: 3,
    uniform: () => uniform(),
    hashCredential: (secret) => `hash of ${secret.length}`,
  });
  return {
    router,
    /** All that shows of what a router knows: its explanation, and its choice at the same chance. */
    viewOf: (model: Model, nowMs: number) => {
      uniform = chance(9);
      const explained = router.explain(asking(streamed, model), nowMs);
      const planned = router.route(asking(streamed, model), nowMs).targets;
      return { explained, planned: planned.map(({ channel }) => channel.id) };
    },
  };
}

function callOnce(router: Router, target: Target, model: Model, nowMs: number, outcome: Outcome) {
  const routed = router.attempt(target, asking(streamed, model), nowMs);
  routed.noteHead(
    new Map([
      ['x-ratelimit-remaining-requests', '3'],
      ['x-ratelimit-reset-requests', '20s'],
    ]),
    nowMs,
  );
  if (outcome.kind === 'answered' || outcome.kind === 'cut') routed.noteFirstContent(nowMs + 400);
  routed.noteEnd(outcome, nowMs + 900);
}

const histories = fc.array(
  fc.array(
    fc.constantFrom<Outcome>(
      answered(),
      brokenOff,
      refusedConnection,
      timedOut('first-content'),
      refusedWith('rate-limited', 30_000),
      refusedWith('rate-limited'),
      refusedWith('credential'),
      refusedWith('model-missing'),
    ),
    { maxLength: 8 },
  ),
  { minLength: 1, maxLength: 6 },
);

const targets = (count: number): readonly Target[] =>
  Array.from({ length: count }, (_, place) => {
    const target = targetOf({ id: `c${place}`, cost: priceOf(BigInt(place + 1)) });
    return {
      ...target,
      channel: { ...target.channel, credentials: [{ id: 'KEY', secret: 's'.repeat(place + 1) }] },
    };
  });

const [one] = targets(1) as readonly [Target]; // of a list of one
const only = modelOf([one]);

function ejected(nowMs: number): readonly RouterState[] {
  const { router } = openProcess();
  for (let n = 0; n < 5; n++) callOnce(router, one, only, nowMs, refusedConnection);
  return router.takeChanged(nowMs + 1000);
}

function exclusionAfter(states: readonly RouterState[], nowMs: number) {
  const { router } = openProcess();
  router.restore(states, nowMs);
  return router.explain(asking(streamed, only), nowMs).exclusions[0]?.reason ?? null;
}

/** The numbers of which it is said. */
function thinned(text: string, kept: readonly boolean[]): string {
  let place = 0;
  const parts: Record<string, Saved<string>> = {};
  for (const [name, part] of Object.entries(readSaved(text) ?? {}))
    parts[name] = Object.fromEntries(Object.entries(part).filter(() => kept[place++] ?? true));
  return writeSaved(parts);
}

describe('what a router has learned, restored', () => {
  test('gives the same plans in another process, at any age', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1500, max: 400_000 }), (all, laterMs) => {
        const model = modelOf(targets(all.length));
        const before = openProcess();
        let nowMs = epochMs;
        for (const [place, history] of all.entries()) {
          const target = model.targets[place];
          for (const outcome of history) {
            if (target !== undefined) callOnce(before.router, target, model, nowMs, outcome);
            nowMs += 1000;
          }
        }
        const after = openProcess();
        after.router.restore(before.router.takeChanged(nowMs), nowMs + 700);
        const atMs = nowMs + laterMs;
        expect(after.viewOf(model, atMs)).toEqual(before.viewOf(model, atMs));
      }),
      { numRuns: 200 },
    );
  });

  test('keeps a target out for what is left of its time', () => {
    const states = ejected(epochMs);
    expect(exclusionAfter([], epochMs + 2000)).toBe(null);
    expect(exclusionAfter(states, epochMs + 2000)).toBe('open');
  });

  test('is taken as new when it comes from the future, and not at all when it is older than a day', () => {
    const states = ejected(epochMs);
    expect(exclusionAfter(states, epochMs - 3_600_000)).toBe('open');
    const { router } = openProcess();
    router.restore(states, epochMs + routerStateMsMax + 2000);
    expect(router.probesDue(only, epochMs + routerStateMsMax + 2000)).toEqual([]);
  });

  test('of another version, or damaged, is as if there were none', () => {
    const states = ejected(epochMs);
    for (const damage of ['', '[]', '{"version":0,"parts":{}}', '{"version":1,"parts":[]}', 'null', '{'])
      expect(
        exclusionAfter(
          states.map((state) => ({ ...state, text: damage })),
          epochMs + 2000,
        ),
      ).toBe(null);
  });

  test('leaves no score that is no number, whichever of the stored numbers are missing', () => {
    const states = ejected(epochMs);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }), (kept) => {
        const { router } = openProcess();
        router.restore(
          states.map((state) => ({ ...state, text: thinned(state.text, kept) })),
          epochMs,
        );
        const { candidates } = router.explain(asking(streamed, only), epochMs + 20_000);
        for (const { expectedCostPicoUsd } of candidates)
          expect(Number.isFinite(expectedCostPicoUsd)).toBe(true);
      }),
    );
  });

  test('is told of trouble first, and of no kind only after the others', () => {
    const targets = Array.from({ length: 20 }, (_, n) => targetOf({ id: `c${n}` }));
    const [dead, ...busy] = targets;
    const model = modelOf(targets);
    const { router } = openProcess();
    const callAll = () => {
      for (const target of busy) callOnce(router, target, model, epochMs, answered());
    };
    const kindsOf = (states: readonly RouterState[]) => new Set(states.map(({ kind }) => kind));
    callAll();
    expect(kindsOf(router.takeChanged(epochMs, 4)).size).toBe(4);
    if (dead === undefined) throw new Error('a target');
    for (let n = 0; n < 3; n++) callOnce(router, dead, model, epochMs, refusedConnection);
    callAll();
    const told = router.takeChanged(epochMs, 4);
    expect(told.find(({ kind }) => kind === 'target')?.key).toMatch(/^c0\n/);
  });

  test('is told in portions, each change once, and never with a secret', () => {
    const { router } = openProcess();
    const secret = {
      ...one,
      channel: { ...one.channel, credentials: [{ id: 'KEY', secret: 'sk-very-secret' }] },
    };
    callOnce(router, secret, modelOf([secret]), epochMs, refusedWith('credential'));
    const first = router.takeChanged(epochMs, 1);
    const rest = router.takeChanged(epochMs);
    expect([...first, ...rest].map(({ kind, key }) => [kind, key])).toEqual([
      ['credential', 'c0\nhash of 14'],
      ['capacity', 'c0\ndemo\nhash of 14'],
      ['target', 'c0\ndemo'],
      ['model', 'demo'],
    ]);
    expect(JSON.stringify([first, rest])).not.toContain('very-secret');
    expect(router.takeChanged(epochMs)).toEqual([]);
  });
});
