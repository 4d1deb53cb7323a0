import { expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../../catalogue.fixture.ts';
import type { Target } from '../../catalogue.ts';
import { ExpectedCostRouter } from '../expected-cost-router.ts';
import { asking, chance, refusedConnection, refusedWith, streamed } from '../route.fixture.ts';
import { decodeRoute, encodeRoute, type PlanMade } from './route-record.ts';

function targetsOf(count: number, rest: { readonly enabled?: boolean } = {}): readonly Target[] {
  return Array.from({ length: count }, (_, n) =>
    targetOf({ id: `${rest.enabled === false ? 'off' : 'c'}-${n}`, cost: priceOf(BigInt(100 + n)), ...rest }),
  );
}

function openRouter() {
  return new ExpectedCostRouter({
    attemptsMax: 3,
    probes: 'calls',
    uniform: chance(5),
    hashCredential: (secret) => secret,
  });
}

/** Every target has been asked before, so that nothing is explored. */
function seasoned(targets: readonly Target[]) {
  const router = openRouter();
  const ask = asking(streamed, modelOf(targets));
  for (const target of targets) router.depart(target, ask, 0).ended(null, 0);
  const planned = (attemptsBefore: number, tried: readonly string[] = []): PlanMade => {
    const progress = { tried: new Set(tried), attemptsLeft: 3 - attemptsBefore };
    return { plan: router.plan(ask, 1000, progress), attemptsBefore };
  };
  return { router, ask, planned };
}

test('a call that was never planned has nothing to tell', () => {
  expect(encodeRoute([])).toBeNull();
  expect(decodeRoute(null)).toEqual([]);
});

test('keeps who could be asked at what cost, who could not and why, and who was asked first', () => {
  const targets = [
    ...targetsOf(2),
    targetOf({ id: 'the "dead"', cost: priceOf(1n) }),
    ...targetsOf(1, { enabled: false }),
  ];
  const { router, ask, planned } = seasoned(targets);
  const dead = targets[2] ?? targets[0];
  for (let n = 0; n < 3 && dead !== undefined; n++) router.depart(dead, ask, 0).ended(refusedConnection, 0);
  const made = planned(0);
  const [record, ...others] = decodeRoute(encodeRoute([made]));
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    attemptsBefore: 0,
    choice: 'score',
    firstChannelId: made.plan.targets[0]?.channel.id,
    candidateCount: 2,
    candidates: [
      { channelId: 'c-0', upstreamModel: 'demo', tier: 0 },
      { channelId: 'c-1', upstreamModel: 'demo', tier: 0 },
    ],
    exclusions: [
      { reason: 'disabled', count: 1, channelIds: ['off-0'] },
      { reason: 'open', count: 1, channelIds: ['the "dead"'] },
    ],
  });
  const [cheap, dear] = record?.candidates ?? [];
  expect(cheap?.expectedCostPicoUsd).toBeGreaterThan(100_000);
  expect(dear?.expectedCostPicoUsd).toBeGreaterThan(cheap?.expectedCostPicoUsd ?? 0);
  expect(cheap?.chance).toBe(0.97);
  expect((cheap?.share ?? 0) + (dear?.share ?? 0)).toBeCloseTo(1, 3);
});

test('of a further plan keeps what is different, and the few that are best then', () => {
  const targets = [...targetsOf(6), ...targetsOf(2, { enabled: false })];
  const { router, ask, planned } = seasoned(targets);
  const first = planned(0);
  for (const target of targets.slice(0, 1)) router.depart(target, ask, 0).ended(refusedWith('credential'), 0);
  const records = decodeRoute(encodeRoute([first, planned(1, ['c-1'])]));
  expect(records.map(({ candidateCount, candidates }) => [candidateCount, candidates.length])).toEqual([
    [6, 6],
    [4, 4],
  ]);
  expect(records[1]).toMatchObject({
    attemptsBefore: 1,
    exclusions: [
      { reason: 'credential', count: 1, channelIds: ['c-0'] },
      { reason: 'tried', count: 1, channelIds: ['c-1'] },
    ],
  });
});

test('is bounded, whatever the number of targets', () => {
  const { planned } = seasoned([...targetsOf(300), ...targetsOf(200, { enabled: false })]);
  const plans = Array.from({ length: 20 }, (_, n) => planned(n, n === 0 ? [] : ['c-0']));
  const text = encodeRoute(plans) ?? '';
  expect(text.length).toBeLessThan(4000);
  const records = decodeRoute(text);
  expect(records).toHaveLength(8);
  expect(records[0]).toMatchObject({ candidateCount: 300, exclusions: [{ reason: 'disabled', count: 200 }] });
  expect(records[0]?.candidates).toHaveLength(16);
  expect(records[0]?.exclusions[0]?.channelIds).toHaveLength(8);
});

test('tells a panic from a plan, and a plan from none', () => {
  const [only] = targetsOf(1);
  if (only === undefined) throw new Error('one target was asked for');
  const { router, ask, planned } = seasoned([only]);
  for (let n = 0; n < 3; n++) router.depart(only, ask, 0).ended(refusedConnection, 0);
  const records = decodeRoute(encodeRoute([planned(0), planned(1, ['c-0'])]));
  expect(records.map(({ choice, firstChannelId }) => [choice, firstChannelId])).toEqual([
    ['panic', 'c-0'],
    ['nothing', null],
  ]);
});
