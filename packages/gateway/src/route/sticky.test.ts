import { noUsage, type Usage } from '@headgate/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Target } from '../catalogue/catalogue.ts';
import type { PriceVersion } from '../money/price.ts';
import type { Outcome } from './outcomes.ts';
import {
  answered,
  asking,
  chance,
  refusedConnection,
  refusedWith,
  streamed,
  timedOut,
} from './route.fixture.ts';
import { Router } from './router.ts';
import { AnswerMemory, SessionMemory, sessionPrice } from './sticky.ts';
import { TargetState } from './target.ts';

const rates = { aboveInputTokens: 0, input: 10, cacheRead: 1, cacheWrite: 12, output: 50, perCall: 3 };
const sizes = { inputTokens: 10_000, outputTokens: 100 };
const said = 3 + 100 * 50;

/** A target whose cache keeps all it is given. */
function faithful(): TargetState {
  const state = new TargetState();
  state.cacheShare = 1;
  return state;
}

function visited(usage: Partial<Usage> = {}) {
  const memory = new SessionMemory();
  const state = faithful();
  memory.answered('s', state, { ...noUsage, inputFresh: 8_000, ...usage }, 0);
  return { memory, state, session: memory.find('s') };
}

describe('the price of a turn', () => {
  test('is the plain one without a session', () => {
    expect(sessionPrice(rates, sizes, null, new TargetState(), 0)).toBe(said + 100_000);
    expect(visited().memory.find(null)).toBeNull();
    expect(visited().memory.find('other')).toBeNull();
  });

  test('is less where the session has been, by what is warm and this turn in three', () => {
    const { session, state } = visited();
    const warm = sessionPrice(rates, sizes, session, state, 1000);
    const cold = sessionPrice(rates, sizes, session, faithful(), 1000);
    expect(warm).toBeCloseTo(said + (8_000 + 2_000 * 10 + 2 * 10_000) / 3);
    expect(cold - warm).toBeCloseTo((8_000 * 9) / 3);
  });

  test('has what is written to caches in it, once a session has written', () => {
    const { session } = visited({ inputCacheWrite5m: 7_000 });
    const forgetful = new TargetState();
    forgetful.cacheShare = 0;
    expect(sessionPrice(rates, sizes, session, forgetful, 0)).toBeCloseTo(said + 120_000);
  });

  const amount = fc.nat({ max: 100_000 });
  const anyRates = fc.record({
    aboveInputTokens: fc.constant(0),
    input: amount,
    cacheRead: amount,
    cacheWrite: amount,
    output: amount,
    perCall: amount,
  });

  test('never falls when any price rises', () => {
    const visit = fc.record({ inputFresh: amount, inputCacheRead: amount, inputCacheWrite5m: amount });
    const dearer = fc.constantFrom('input', 'cacheRead', 'cacheWrite', 'output', 'perCall');
    fc.assert(
      fc.property(
        anyRates,
        visit,
        amount,
        fc.double({ min: 0, max: 1, noNaN: true }),
        dearer,
        (own, use, inputTokens, share, which) => {
          const { session, state } = visited(use);
          state.cacheShare = share;
          const price = (at: typeof own) =>
            sessionPrice(at, { inputTokens, outputTokens: 50 }, session, state, 0);
          const risen = price({ ...own, [which]: own[which] + 1 });
          expect(risen).toBeGreaterThanOrEqual(price(own) * (1 - 1e-12));
        },
      ),
    );
  });

  test('never rises with what is warm, where reading costs less than input', () => {
    fc.assert(
      fc.property(anyRates, amount, amount, (own, prefix, more) => {
        const cheap = { ...own, cacheRead: Math.min(own.cacheRead, own.input) };
        const price = (inputFresh: number) => {
          const { session, state } = visited({ inputFresh });
          return sessionPrice(cheap, sizes, session, state, 0);
        };
        expect(price(prefix + more)).toBeLessThanOrEqual(price(prefix) * (1 + 1e-12));
      }),
    );
  });
});

describe('warmth', () => {
  const isWarm = (usage: Partial<Usage>, nowMs: number) => {
    const { session, state } = visited(usage);
    return (
      sessionPrice(rates, sizes, session, state, nowMs) <
      sessionPrice(rates, sizes, session, faithful(), nowMs)
    );
  };

  test('lasts five minutes, or the hour that was paid for', () => {
    expect([300_000, 300_001].map((nowMs) => isWarm({}, nowMs))).toEqual([true, false]);
    const hour = { inputCacheWrite1h: 1 };
    expect([3_600_000, 3_600_001].map((nowMs) => isWarm(hour, nowMs))).toEqual([true, false]);
  });

  test('a turn in between keeps what was paid for', () => {
    const { memory, state } = visited({ inputCacheWrite1h: 1 });
    memory.answered('s', state, { ...noUsage, inputFresh: 8_000 }, 1_000);
    expect(memory.find('s')?.places.get(state)?.warmUntilMs).toBe(3_600_000);
  });

  /** The target's share after turns of one session, each of so many tokens of which so many were read from its cache. */
  function shareAfter(
    turns: readonly (readonly [tokens: number, cached: number])[],
    pauseMs = 1_000,
  ): number {
    const memory = new SessionMemory();
    const state = new TargetState();
    for (const [place, [tokens, cached]] of turns.entries()) {
      const usage = { ...noUsage, inputFresh: tokens - cached, inputCacheRead: cached };
      memory.answered('s', state, usage, place * pauseMs);
    }
    return state.cacheShare;
  }

  const grown = (cachedShare: number) =>
    Array.from({ length: 40 }, (_, n) => {
      const before = 10_000 + 1_000 * (n - 1);
      return [before + 1_000, n === 0 ? 0 : cachedShare * before] as const;
    });

  test('is believed as far as it is found', () => {
    expect(shareAfter(grown(1))).toBeGreaterThan(0.95);
    expect(shareAfter(grown(0.7))).toBeCloseTo(0.7, 1);
    expect(shareAfter(grown(0))).toBeLessThan(0.05);
  });

  test('of a short prompt says little, and of one that was cut short nothing worse', () => {
    const short = Array.from({ length: 20 }, () => [1_000, 0] as const);
    expect(shareAfter(short)).toBeGreaterThan(0.3);
    const cut = [[50_000, 0] as const, ...Array.from({ length: 30 }, () => [4_000, 4_000] as const)];
    expect(shareAfter(cut)).toBeGreaterThan(0.9);
  });

  test('is not looked for after it has passed', () => {
    expect(shareAfter(grown(0), 300_001)).toBe(0.5);
  });

  test('is none where a key is given to prompts that share nothing', () => {
    const strangers = Array.from({ length: 40 }, () => [10_000, 0] as const);
    expect(shareAfter(strangers)).toBeLessThan(0.02);
  });
});

describe('memory', () => {
  const use = { ...noUsage, inputFresh: 1_000 };

  test('keeps nothing of prompts that no upstream caches: all calls cost them the same', () => {
    const memory = new SessionMemory();
    const state = new TargetState();
    for (let n = 0; n < 20; n++) memory.answered('s', state, { ...noUsage, inputFresh: 999 }, n);
    expect([memory.size, state.cacheShare]).toEqual([0, 0.5]);
    const { session, state: home } = visited();
    const short = { inputTokens: 999, outputTokens: 10 };
    const [here, there] = [home, faithful()].map((at) => sessionPrice(rates, short, session, at, 0));
    expect(here).toBe(there);
  });

  test('the sessions used longest ago are forgotten, and places of one as well', () => {
    const { memory, state } = visited();
    for (let n = 0; n < 50_000; n++) memory.answered(`${n}`, state, use, 1);
    expect([memory.size, memory.find('s')]).toEqual([50_000, null]);
    for (let n = 0; n < 9; n++) memory.answered('0', new TargetState(), use, 1);
    expect(memory.find('0')?.places.size).toBe(4);
  });

  test('what is cold everywhere goes as others come', () => {
    const memory = new SessionMemory();
    const state = new TargetState();
    for (let n = 0; n < 10_000; n++) memory.answered(`${n}`, state, use, n * 1_000);
    expect(memory.size).toBeLessThanOrEqual(302);
    expect(memory.find('9999')).not.toBeNull();
  });
});

test('a known answer binds to its channel, an unknown one to none', () => {
  const memory = new AnswerMemory();
  memory.note('resp_1', { channelId: 'a', accountKey: '', ownerId: null });
  const allowed = (id: string | undefined) => ['a', 'b'].filter((channel) => memory.allows(id, channel));
  expect([allowed('resp_1'), allowed('resp_2'), allowed(undefined)]).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
});

test('the first account that an answer is known of is its owner, whoever names it later', () => {
  const memory = new AnswerMemory();
  memory.note('resp_1', { channelId: 'a', accountKey: '', ownerId: 'first' });
  memory.note('resp_1', { channelId: 'b', accountKey: '', ownerId: 'second' });
  const strangers = ['first', 'second', null].filter((id) => memory.isForeign('resp_1', id));
  expect([strangers, memory.allows('resp_1', 'a')]).toEqual([['second', null], true]);
  expect([memory.isForeign('resp_2', 'second'), memory.isForeign(undefined, 'second')]).toEqual([
    false,
    false,
  ]);
});

test('the oldest are forgotten first, and the number stays bounded', () => {
  const memory = new AnswerMemory();
  for (let n = 0; n <= 50_000; n++)
    memory.note(`resp_${n}`, { channelId: 'a', accountKey: '', ownerId: null });
  expect(memory.allows('resp_0', 'b')).toBe(true);
  expect(memory.allows('resp_1', 'b')).toBe(false);
});

test('an id of any length takes no more memory than others', () => {
  const memory = new AnswerMemory();
  memory.note('a'.repeat(256), { channelId: 'c1', accountKey: '', ownerId: null });
  memory.note('a'.repeat(257), { channelId: 'c1', accountKey: '', ownerId: null });
  expect(memory.allows('a'.repeat(256), 'c2')).toBe(false);
  expect(memory.allows('a'.repeat(257), 'c2')).toBe(true);
});

/** Reading from a cache costs nothing: no upstream keeps a session at a lower price. */
const home = targetOf({ id: 'home', cost: priceOf(10n) });
const elsewhere = targetOf({ id: 'elsewhere', cost: priceOf(11n) });
const model = modelOf([home, elsewhere]);
const long = { ...streamed, inputTokensEstimate: 50_000 };
const of = (session: string | null) => asking(long, model, session);

function openRouter(seed: number): Router {
  return new Router({
    attemptsMax: 3,
    uniform: chance(seed),
    hashCredential: (it) => it,
  });
}

/** A call that begins after 400 ms and ends after a second; how much of it was cached. */
function answer(router: Router, target: Target, session: string | null, nowMs: number, cached = 0) {
  const routed = router.attempt(target, of(session), nowMs);
  routed.noteFirstContent(nowMs + 400);
  routed.noteEnd(answered({ inputFresh: 50_000 - cached, inputCacheRead: cached }), nowMs + 1_000);
}

/** Both known to be well, and the session warm at home, where all of its prompt is cached. */
function settle(router: Router): number {
  const turns = 20;
  for (let n = 0; n < turns; n++) {
    answer(router, home, 's', n * 2_000, n === 0 ? 0 : 49_000);
    answer(router, elsewhere, null, n * 2_000);
  }
  return turns * 2_000;
}

const firstOf = (router: Router, session: string | null, nowMs: number) =>
  router.route(of(session), nowMs).targets[0];

describe('a warm upstream', () => {
  test('has the session, and no more than its share of others', () => {
    const router = openRouter(1);
    const nowMs = settle(router);
    const count = (session: string) =>
      Array.from({ length: 200 }, () => firstOf(router, session, nowMs)).filter((first) => first === home)
        .length;
    expect(count('s')).toBe(200);
    expect(count('another')).toBeGreaterThan(100);
    expect(count('another')).toBeLessThan(199);
  });

  const ailments: readonly (readonly [string, Outcome, lastsMs: number])[] = [
    ['refuses connections', refusedConnection, 10],
    ['hangs', timedOut('first-content'), 4_000],
    ['fails', refusedWith('server-error'), 100],
    ['is overloaded', refusedWith('overloaded'), 100],
    ['takes no more for now', refusedWith('rate-limited', 60_000), 50],
    ['does not take the credential', refusedWith('credential'), 50],
    ['has lost the model', refusedWith('model-missing'), 50],
  ];

  test.each(ailments)('that %s is left, whatever its cache is worth', (_, outcome, lastsMs) => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const router = openRouter(seed);
        let nowMs = settle(router);
        let wasted = 0;
        for (let n = 0; n < 60; n++, nowMs += 1_000) {
          if (firstOf(router, 's', nowMs) === elsewhere) continue;
          wasted++;
          router.attempt(home, of('s'), nowMs).noteEnd(outcome, nowMs + lastsMs);
          nowMs += lastsMs;
          const progress = { tried: new Set([home.channel.id]), attemptsLeft: 2 };
          expect(router.route(of('s'), nowMs, progress).targets).toEqual([elsewhere]);
        }
        // As many as any call may spend on what is out of service for a minute, probes included.
        expect(wasted).toBeLessThanOrEqual(10);
      }),
      { numRuns: 40 },
    );
  });

  test('that has become dear is left, and found again when it is cheap', () => {
    const router = openRouter(1);
    const nowMs = settle(router);
    const risen = modelOf([targetOf({ id: 'home', cost: withoutDiscount(80n) }), elsewhere]);
    const firsts = Array.from(
      { length: 200 },
      () => router.route(asking(long, risen, 's'), nowMs).targets[0],
    );
    expect(firsts.every((first) => first === elsewhere)).toBe(true);
    expect(firstOf(router, 's', nowMs)).toBe(home);
  });
});

/** Reading from a cache costs as much as all else. */
function withoutDiscount(microUsd: bigint): PriceVersion {
  const { tiers, ...rest } = priceOf(microUsd);
  const dear = tiers.map(({ classes, ...tier }) => ({
    ...tier,
    classes: { ...classes, cacheRead: classes.input },
  }));
  return { ...rest, tiers: dear };
}
