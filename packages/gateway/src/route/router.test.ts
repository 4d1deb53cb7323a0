import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, type TargetDraft, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Target } from '../catalogue/catalogue.ts';
import type { Outcome } from './outcomes.ts';
import {
  answered,
  asking,
  brokenOff,
  callerGone,
  chance,
  refusedConnection,
  refusedWith,
  streamed,
  timedOut,
} from './route.fixture.ts';
import { Router } from './router.ts';

function openRouter(seed = 1) {
  return new Router({
    attemptsMax: 3,
    uniform: chance(seed),
    hashCredential: (it) => it,
  });
}

function priced(id: string, microUsd: bigint, rest: Partial<TargetDraft> = {}): Target {
  return targetOf({ id, cost: priceOf(microUsd), ...rest });
}

interface Tried {
  readonly outcome: Outcome;
  readonly beganAfterMs?: number;
  readonly lastsMs?: number;
}

/** Sends one call to a target and lets it come to its end; the time afterwards. */
function tryOnce(
  router: Router,
  target: Target,
  model: ReturnType<typeof modelOf>,
  nowMs: number,
  tried: Tried,
): number {
  const routed = router.attempt(target, asking(streamed, model), nowMs);
  if (tried.beganAfterMs !== undefined) routed.noteFirstContent(nowMs + tried.beganAfterMs);
  const endMs = nowMs + (tried.lastsMs ?? 1000);
  routed.noteEnd(tried.outcome, endMs);
  return endMs;
}

function idsOf(targets: readonly Target[]): readonly string[] {
  return targets.map(({ channel }) => channel.id);
}

const anyOutcome: fc.Arbitrary<Tried> = fc.constantFrom<Tried>(
  { outcome: answered(), beganAfterMs: 400 },
  { outcome: answered(), beganAfterMs: 4000, lastsMs: 9000 },
  { outcome: refusedConnection, lastsMs: 100 },
  { outcome: timedOut('first-content'), lastsMs: 9000 },
  { outcome: brokenOff, beganAfterMs: 300 },
  { outcome: callerGone },
  { outcome: refusedWith('rate-limited'), lastsMs: 200 },
  { outcome: refusedWith('rate-limited', 30_000), lastsMs: 200 },
  { outcome: refusedWith('credential') },
  { outcome: refusedWith('model-missing') },
  { outcome: refusedWith('server-error') },
);

const anyones = fc.array(
  fc.record({
    microUsd: fc.integer({ min: 1, max: 20 }),
    enabled: fc.boolean(),
    speaks: fc.boolean(),
    priority: fc.nat(1),
    history: fc.array(anyOutcome, { maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 6 },
);

const mildOutcome: fc.Arbitrary<Tried> = fc.constantFrom<Tried>(
  { outcome: answered(), beganAfterMs: 400 },
  { outcome: answered(), beganAfterMs: 900, lastsMs: 2000 },
  { outcome: refusedWith('server-error') },
);

/** So much alike that they share the calls, whatever the order and the least difference does. */
const rivals = fc.array(
  fc.record({
    microUsd: fc.integer({ min: 100, max: 104 }),
    enabled: fc.constant(true),
    speaks: fc.constant(true),
    priority: fc.constant(0),
    history: fc.array(mildOutcome, { maxLength: 4 }),
  }),
  { minLength: 2, maxLength: 6 },
);

const drafts = fc.oneof(anyones, rivals);

type Drafts = typeof drafts extends fc.Arbitrary<infer Value> ? Value : never;

/** A router that has seen these targets do what they did. */
function sceneOf(all: Drafts, order: (targets: readonly Target[]) => readonly Target[] = (it) => it) {
  const router = openRouter();
  const targets = all.map(({ microUsd, enabled, speaks, priority }, place) =>
    priced(`c${place}`, BigInt(microUsd), {
      enabled,
      priority,
      protocols: speaks ? { 'chat-completions': '/chat' } : { images: '/images' },
    }),
  );
  const model = modelOf(order(targets));
  let nowMs = 0;
  for (const [place, { history }] of all.entries()) {
    const target = targets[place];
    if (target === undefined) continue;
    for (const tried of history) nowMs = tryOnce(router, target, model, nowMs, tried);
  }
  return { router, targets, model, nowMs };
}

describe('whatever the targets are and have done', () => {
  test('never one that is disabled, blocked, without the model or without a good credential', () => {
    fc.assert(
      fc.property(drafts, (all) => {
        const { router, model, nowMs } = sceneOf(all);
        const barred = new Set(['disabled', 'blocked', 'credential', 'model-missing']);
        const excluded = router
          .explain(asking(streamed, model), nowMs)
          .exclusions.filter(({ reason }) => barred.has(reason))
          .map(({ channelId }) => channelId);
        for (const [place, { enabled, speaks }] of all.entries())
          expect(excluded.includes(`c${place}`) || (enabled && speaks)).toBe(true);
        const planned = idsOf(router.route(asking(streamed, model), nowMs).targets);
        expect(planned.filter((id) => excluded.includes(id))).toEqual([]);
        // And whatever is not barred is never given up on.
        expect(planned.length === 0).toBe(excluded.length === all.length);
      }),
    );
  });

  test('the order of the input is irrelevant', () => {
    fc.assert(
      fc.property(drafts, (all) => {
        const [one, other] = [sceneOf(all), sceneOf(all, (targets) => targets.toReversed())];
        for (let n = 0; n < 3; n++) {
          expect(idsOf(one.router.route(asking(streamed, one.model), one.nowMs).targets)).toEqual(
            idsOf(other.router.route(asking(streamed, other.model), other.nowMs).targets),
          );
        }
      }),
    );
  });

  test('shares add up to one, scores are finite, and a plan names a channel once', () => {
    fc.assert(
      fc.property(drafts, (all) => {
        const { router, model, nowMs } = sceneOf(all);
        const { candidates: open } = router.explain(asking(streamed, model), nowMs);
        expect(open.every(({ expectedCostPicoUsd }) => Number.isFinite(expectedCostPicoUsd))).toBe(true);
        if (open.length > 0) expect(open.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
        const planned = idsOf(router.route(asking(streamed, model), nowMs).targets);
        expect(new Set(planned).size).toBe(planned.length);
      }),
    );
  });
});

describe('what makes a target worse never raises its share', () => {
  const lastAttempt = { tried: new Set<string>(), attemptsLeft: 1 };

  function shareOf(router: Router, model: ReturnType<typeof modelOf>, nowMs: number): number {
    const explained = router.explain(asking(streamed, model), nowMs, lastAttempt);
    return explained.candidates.find(({ channelId }) => channelId === 'c0')?.share ?? 0;
  }

  test('a higher price', () => {
    fc.assert(
      fc.property(drafts, fc.integer({ min: 1, max: 20 }), (all, extra) => {
        const { router, targets, model, nowMs } = sceneOf(all);
        router.route(asking(streamed, model), nowMs);
        const before = shareOf(router, model, nowMs);
        const [first] = targets;
        if (first === undefined) return;
        const cost = priceOf(BigInt((all[0]?.microUsd ?? 0) + extra));
        const after = shareOf(router, modelOf([{ ...first, cost }, ...targets.slice(1)]), nowMs);
        expect(after).toBeLessThanOrEqual(before + 1e-9);
      }),
    );
  });

  test('one more failure', () => {
    fc.assert(
      fc.property(
        drafts,
        fc.constantFrom(timedOut('first-content'), refusedWith('server-error')),
        (all, outcome) => {
          const [one, other] = [sceneOf(all), sceneOf(all)];
          const [first] = other.targets;
          if (first === undefined) return;
          const lastsMs = 10_000;
          tryOnce(other.router, first, other.model, other.nowMs, { outcome, lastsMs });
          const atMs = one.nowMs + lastsMs;
          expect(shareOf(other.router, other.model, atMs)).toBeLessThanOrEqual(
            shareOf(one.router, one.model, atMs) + 1e-9,
          );
        },
      ),
    );
  });
});

describe('one call', () => {
  const cheap = priced('cheap', 1n);
  const dear = priced('dear', 3n);
  const model = modelOf([dear, cheap]);

  test('goes to the cheapest, and then to the others by their score', () => {
    const router = openRouter();
    router.attempt(dear, asking(streamed, model), 0).noteEnd(callerGone, 0);
    router.attempt(cheap, asking(streamed, model), 0).noteEnd(callerGone, 0);
    expect(idsOf(router.route(asking(streamed, model), 0).targets)).toEqual(['cheap', 'dear']);
  });

  test('keeps to the operator’s tiers, whatever the price', () => {
    const router = openRouter();
    const tiers = modelOf([{ ...cheap, channel: { ...cheap.channel, priority: 1 } }, dear]);
    expect(idsOf(router.route(asking(streamed, tiers), 0).targets)).toEqual(['dear', 'cheap']);
  });

  test('never tries a channel twice', () => {
    const progress = { tried: new Set(['cheap']), attemptsLeft: 2 };
    expect(idsOf(openRouter().route(asking(streamed, model), 0, progress).targets)).toEqual(['dear']);
  });

  test('goes where the answer was given that it goes on from', () => {
    const router = openRouter();
    tryOnce(router, dear, model, 0, { outcome: answered({}, 'resp_1') });
    expect(idsOf(router.route(asking({ ...streamed, continues: 'resp_1' }, model), 2000).targets)).toEqual([
      'dear',
    ]);
  });

  test('knows what another account was given, whichever of two names it goes by', () => {
    const router = openRouter();
    tryOnce(router, dear, model, 0, { outcome: answered({}, 'resp_1') });
    const mine = asking({ ...streamed, continues: 'resp_1' }, model);
    const beside = asking({ ...streamed, continues: 'resp_2', continuesBeside: 'resp_1' }, model);
    expect([mine, beside].map((request) => router.isForeign(request))).toEqual([false, false]);
    expect([mine, beside].map((request) => router.isForeign({ ...request, accountId: 'other' }))).toEqual([
      true,
      true,
    ]);
  });

  test('is not held by an answer that nobody was to keep', () => {
    const router = openRouter();
    const { kept: _, ...forgotten } = streamed;
    router.attempt(dear, asking(forgotten, model), 0).noteEnd(answered({}, 'resp_1'), 1000);
    const going = asking({ ...forgotten, continues: 'resp_1' }, model);
    expect(idsOf(router.route(going, 2000).targets)).toHaveLength(2);
  });

  test('goes where what is kept upstream was found once', () => {
    const router = openRouter();
    const kept = asking({ ...streamed, continues: 'cachedContents/1' }, model);
    expect(idsOf(router.route(kept, 0).targets)).toHaveLength(2);
    router.attempt(dear, kept, 0).noteEnd(answered(), 1000);
    expect(idsOf(router.route(kept, 2000).targets)).toEqual(['dear']);
  });

  test('stays where its prefix is warm, when that is cheaper', () => {
    const router = openRouter();
    const [a, b] = [priced('a', 10n), priced('b', 9n)];
    const long = { ...streamed, inputTokensEstimate: 50_000 };
    const both = modelOf([a, b]);
    const routed = router.attempt(a, asking(long, both, 's'), 0);
    routed.noteFirstContent(500);
    routed.noteEnd(answered({ inputFresh: 50_000 }), 1000);
    router.attempt(b, asking(streamed, both), 1000).noteEnd(callerGone, 1000);
    const shareOfA = (session: string | null) => {
      const { candidates } = router.explain(asking(long, both, session), 1000);
      return candidates.find(({ channelId }) => channelId === 'a')?.share;
    };
    expect(shareOfA('s')).toBeGreaterThan(0.9);
    for (const other of ['t', null]) expect(shareOfA(other)).toBeLessThan(0.5);
  });

  test('a target with an unknown price comes after all that are known', () => {
    const router = openRouter();
    const some = modelOf([targetOf({ id: 'a' }), dear]);
    for (const target of some.targets)
      router.attempt(target, asking(streamed, some), 0).noteEnd(callerGone, 0);
    expect(idsOf(router.route(asking(streamed, some), 0).targets)).toEqual(['dear', 'a']);
  });

  describe('a target in reach of the cheapest that nobody has used for long', () => {
    const slow = priced('slow', 1n);
    const twoWays = modelOf([cheap, slow]);

    test('is probed for one call in five, and asked by none', () => {
      const router = openRouter();
      for (let n = 0; n < 20; n++)
        tryOnce(router, slow, twoWays, 0, { outcome: answered(), beganAfterMs: 29_000, lastsMs: 29_000 });
      let probed = 0;
      for (let n = 2; n < 1002; n++) {
        const nowMs = 30_000 * n;
        const request = asking(streamed, twoWays);
        router.attempt(cheap, request, nowMs - 1).noteEnd(callerGone, nowMs - 1);
        expect(router.route(request, nowMs).targets[0]).toBe(cheap);
        const target = router.probeWorthwhile(twoWays, nowMs);
        if (target === null) continue;
        expect(target).toBe(slow);
        router.probe(target, twoWays, nowMs).noteEnd(callerGone, nowMs);
        probed++;
      }
      expect(probed).toBeGreaterThan(150);
      expect(probed).toBeLessThanOrEqual(200);
    });
  });

  test('what is out of reach is never tried to find out about', () => {
    const router = openRouter();
    for (let n = 1; n < 500; n++) {
      router.attempt(cheap, asking(streamed, model), 30_000 * n - 1).noteEnd(callerGone, 30_000 * n - 1);
      expect(router.route(asking(streamed, model), 30_000 * n).targets[0]).toBe(cheap);
    }
    expect(router.probeWorthwhile(model, 14_971_000)).toBeNull();
  });
});

describe('in trouble', () => {
  const one = priced('one', 1n);
  const two = priced('two', 2n);
  const model = modelOf([one, two]);

  function fail(router: Router, target: Target, times: number, nowMs = 0): void {
    for (let n = 0; n < times; n++)
      tryOnce(router, target, model, nowMs, { outcome: refusedConnection, lastsMs: 0 });
  }

  test('a dead target is left out until a probe has come back well', () => {
    const router = openRouter();
    fail(router, one, 3);
    expect(idsOf(router.route(asking(streamed, model), 1000).targets)).toEqual(['two']);
    expect(router.probesDue(model, 1000)).toEqual([]);
    expect(router.probesDue(model, 7000)).toEqual([one]);
    expect(idsOf(router.route(asking(streamed, model), 7000).targets)).toEqual(['two']);
    router.probe(one, model, 7000).noteEnd(answered(), 7300);
    expect(idsOf(router.route(asking(streamed, model), 9000).targets)).toEqual(['one', 'two']);
    expect(router.probesDue(model, 9000)).toEqual([]);
    router.attempt(one, asking(streamed, model), 9000);
    expect(idsOf(router.route(asking(streamed, model), 9000).targets)).toEqual(['two']);
  });

  test('when all are out, one is tried all the same, and one more at the most', () => {
    const router = openRouter();
    fail(router, one, 3);
    tryOnce(router, two, model, 0, { outcome: answered(), beganAfterMs: 0, lastsMs: 0 });
    fail(router, two, 3);
    const { targets } = router.route(asking(streamed, model), 100);
    expect(targets).toHaveLength(2);
    const tried = (...ids: readonly string[]) => ({ tried: new Set(ids), attemptsLeft: 2 });
    expect(router.route(asking(streamed, model), 100, tried('one')).targets).toHaveLength(1);
    expect(router.route(asking(streamed, model), 100, tried('x', 'y')).targets).toEqual([]);
    for (let n = 0; n < 40; n++) router.route(asking(streamed, model), 100, tried('one'));
    expect(router.route(asking(streamed, model), 100, tried('one')).targets).toEqual([]);
  });

  describe('where nothing has answered for six attempts', () => {
    const three = priced('three', 3n);
    const all = modelOf([one, two, three]);
    const after = (...ids: readonly string[]) => ({ tried: new Set(ids), attemptsLeft: 2 });

    test('a call goes on only to what has not failed, and nowhere when all have', () => {
      const router = openRouter();
      fail(router, one, 2);
      fail(router, two, 3);
      expect(idsOf(router.route(asking(streamed, all), 100, after('two')).targets)).toContain('one');
      fail(router, two, 1);
      expect(idsOf(router.route(asking(streamed, all), 100, after('two')).targets)).toEqual(['three']);
      fail(router, three, 1);
      expect(idsOf(router.route(asking(streamed, all), 100).targets)).not.toEqual([]);
      expect(router.route(asking(streamed, all), 100, after('two')).targets).toEqual([]);
    });

    test('one answer is the end of it', () => {
      const router = openRouter();
      for (const target of [one, two, three]) fail(router, target, 2);
      tryOnce(router, three, all, 50, { outcome: answered(), beganAfterMs: 10, lastsMs: 20 });
      expect(idsOf(router.route(asking(streamed, all), 100, after('two')).targets)).toContain('one');
    });
  });

  test('a rate limit that names its end is kept to even then, and told', () => {
    const router = openRouter();
    for (const target of [one, two])
      tryOnce(router, target, model, 0, { outcome: refusedWith('rate-limited', 9000), lastsMs: 0 });
    expect(router.route(asking(streamed, model), 4000)).toMatchObject({ targets: [], blockedRetryMs: 5000 });
  });

  test('a credential refused to two models is refused for all models of the channel, not for another credential', () => {
    const router = openRouter();
    tryOnce(router, one, model, 0, { outcome: refusedWith('credential') });
    const second = { ...one, upstreamModel: 'second' };
    tryOnce(router, second, modelOf([second], 'm1'), 0, { outcome: refusedWith('credential') });
    const other = { ...one, upstreamModel: 'other' };
    expect(router.route(asking(streamed, modelOf([other], 'm2')), 1000).targets).toEqual([]);
    const renewed = { ...other, channel: { ...other.channel, credentials: [{ id: 'NEW', secret: 'new' }] } };
    expect(router.route(asking(streamed, modelOf([renewed], 'm3')), 1000).targets).toEqual([renewed]);
    expect(idsOf(router.route(asking(streamed, modelOf([other], 'm2')), 70_000).targets)).toEqual(['one']);
  });

  test('a target that owes three answers is left out until one comes', () => {
    const router = openRouter();
    const attempts = [0, 1, 2].map((nowMs) => router.attempt(one, asking(streamed, model), nowMs));
    expect(idsOf(router.route(asking(streamed, model), 4000).targets)).toEqual(['two']);
    attempts[2]?.noteFirstContent(4000);
    expect(idsOf(router.route(asking(streamed, model), 4000).targets)).toContain('one');
  });

  test('a target whose limit does not cover the call is left out until it resets', () => {
    const router = openRouter();
    const left = { 'x-ratelimit-remaining-tokens': '900', 'x-ratelimit-reset-tokens': '9s' };
    router.attempt(one, asking(streamed, model), 0).noteHead(new Map(Object.entries(left)), 0);
    expect(idsOf(router.route(asking(streamed, model), 8000).targets)).toEqual(['two']);
    expect(
      idsOf(router.route(asking({ ...streamed, inputTokensEstimate: 800 }, model), 8000).targets),
    ).toContain('one');
    expect(idsOf(router.route(asking(streamed, model), 9000).targets)).toContain('one');
  });

  test('what an attempt has told is told once', () => {
    const router = openRouter();
    const routed = router.attempt(one, asking(streamed, model), 0);
    for (let n = 0; n < 9; n++) routed.noteEnd(refusedConnection, 10);
    routed.noteFirstContent(20);
    expect(idsOf(router.route(asking(streamed, model), 30).targets)).toContain('one');
  });
});

test('a million random events and a clock that jumps leave numbers, and every target can come back', () => {
  const uniform = chance(11);
  const router = openRouter(5);
  const targets = Array.from({ length: 6 }, (_, n) => priced(`c${n}`, BigInt(n + 1)));
  const model = modelOf(targets);
  const outcomes = [answered(), refusedConnection, timedOut('first-content'), brokenOff, callerGone, null];
  const limits = [
    refusedWith('rate-limited', 5000),
    refusedWith('rate-limited'),
    refusedWith('server-error'),
  ];
  const all = [...outcomes, ...limits];
  const attempts: ReturnType<Router['attempt']>[] = [];
  let nowMs = 0;
  for (let n = 0; n < 1_000_000; n++) {
    const kind = uniform();
    nowMs += kind < 0.0001 ? (uniform() - 0.5) * 1e13 : 40 * uniform();
    const pick = Math.floor(uniform() * attempts.length);
    const target = targets[Math.floor(uniform() * targets.length)];
    if (kind < 0.35 && target !== undefined)
      attempts.push(router.attempt(target, asking(streamed, model), nowMs));
    else if (kind < 0.6) attempts[pick]?.noteFirstContent(nowMs);
    else if (kind < 0.98)
      attempts.splice(pick, 1)[0]?.noteEnd(all[Math.floor(uniform() * all.length)] ?? null, nowMs);
    else router.route(asking(streamed, model), nowMs);
  }
  for (const routed of attempts) routed.noteEnd(null, nowMs);
  for (let n = 0; n < 5; n++) {
    nowMs += 3_600_000;
    for (const target of targets)
      tryOnce(router, target, model, nowMs, { outcome: answered(), beganAfterMs: 500 });
  }
  const explained = router.explain(asking(streamed, model), nowMs + 60_000);
  expect(explained.exclusions).toEqual([]);
  expect(explained.candidates).toHaveLength(targets.length);
  expect(explained.candidates.every(({ expectedCostPicoUsd }) => Number.isFinite(expectedCostPicoUsd))).toBe(
    true,
  );
  expect(targets.map((target) => router.inFlight(target))).toEqual(targets.map(() => 0));
});
