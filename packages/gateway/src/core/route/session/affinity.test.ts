import { noUsage, type Usage } from '@headgate/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TargetState } from '../target/target-state.ts';
import { SessionMemory, sessionPrice } from './affinity.ts';

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
