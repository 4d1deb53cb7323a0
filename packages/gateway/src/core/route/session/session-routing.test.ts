import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../../catalogue.fixture.ts';
import type { Target } from '../../catalogue.ts';
import type { PriceVersion } from '../../price.ts';
import { ExpectedCostRouter } from '../expected-cost-router.ts';
import type { Outcome } from '../outcome/outcome.ts';
import {
  answered,
  asking,
  chance,
  refusedConnection,
  refusedWith,
  streamed,
  timedOut,
} from '../route.fixture.ts';

/** What is read from a cache costs nothing: no upstream keeps a session at a lower price. */
const home = targetOf({ id: 'home', cost: priceOf(10n) });
const elsewhere = targetOf({ id: 'elsewhere', cost: priceOf(11n) });
const model = modelOf([home, elsewhere]);
const long = { ...streamed, inputTokensEstimate: 50_000 };
const of = (session: string | null) => asking(long, model, session);

function openRouter(seed: number): ExpectedCostRouter {
  return new ExpectedCostRouter({
    attemptsMax: 3,
    probes: 'calls',
    uniform: chance(seed),
    hashCredential: (it) => it,
  });
}

/** A call that begins after 400 ms and ends after a second; how much of it was cached. */
function answer(
  router: ExpectedCostRouter,
  target: Target,
  session: string | null,
  nowMs: number,
  cached = 0,
) {
  const flight = router.depart(target, of(session), nowMs);
  flight.began(nowMs + 400);
  flight.ended(answered({ inputFresh: 50_000 - cached, inputCacheRead: cached }), nowMs + 1_000);
}

/** Both known to be well, and the session warm at home, where all of its prompt is cached. */
function settle(router: ExpectedCostRouter): number {
  const turns = 20;
  for (let n = 0; n < turns; n++) {
    answer(router, home, 's', n * 2_000, n === 0 ? 0 : 49_000);
    answer(router, elsewhere, null, n * 2_000);
  }
  return turns * 2_000;
}

const firstOf = (router: ExpectedCostRouter, session: string | null, nowMs: number) =>
  router.plan(of(session), nowMs).targets[0];

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
          router.depart(home, of('s'), nowMs).ended(outcome, nowMs + lastsMs);
          nowMs += lastsMs;
          const progress = { tried: new Set([home.channel.id]), attemptsLeft: 2 };
          expect(router.plan(of('s'), nowMs, progress).targets).toEqual([elsewhere]);
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
    const firsts = Array.from({ length: 200 }, () => router.plan(asking(long, risen, 's'), nowMs).targets[0]);
    expect(firsts.every((first) => first === elsewhere)).toBe(true);
    expect(firstOf(router, 's', nowMs)).toBe(home);
  });
});

/** What is read from a cache costs what all else does. */
function withoutDiscount(microUsd: bigint): PriceVersion {
  const { tiers, ...rest } = priceOf(microUsd);
  const dear = tiers.map(({ classes, ...tier }) => ({
    ...tier,
    classes: { ...classes, cacheRead: classes.input },
  }));
  return { ...rest, tiers: dear };
}
