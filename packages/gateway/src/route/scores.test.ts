import fc from 'fast-check';
import { expect, test } from 'vitest';
import { priceOf } from '../catalogue/catalogue.fixture.ts';
import { ratesFor, ratesOf } from './price-rates.ts';
import { chance } from './route.fixture.ts';
import {
  costOfFailure,
  costOfSuccess,
  drawPlace,
  type Stakes,
  scoreAt,
  stakesOf,
  weightOf,
  widthAfter,
} from './scores.ts';

const meanCost = 1000;
const stakes = stakesOf(meanCost, 'balanced', 1);
const sure = { price: 800, waitMs: 0, chance: 1, failureMs: 1000, breakShare: 0, slowStart: 1 };

function score(prospect: typeof sure, at: Stakes): number {
  const { price, waitMs, chance: its, failureMs, breakShare, slowStart } = prospect;
  const success = costOfSuccess(price, waitMs, breakShare, slowStart, at);
  return scoreAt(its, success, costOfFailure(failureMs, slowStart, at));
}

test.each<readonly [string, Partial<typeof sure>, number]>([
  ['its price alone, when it answers at once and always', {}, 800],
  ['a twentieth of a mean call for each second of waiting', { waitMs: 2000 }, 900],
  ['one failure before each success: its time, and five mean calls', { chance: 0.5 }, 800 + 50 + 5000],
  ['answers that break off: five mean calls and half of the price', { breakShare: 0.1 }, 800 + 540],
  ['twice of all that, just back', { slowStart: 2, waitMs: 2000 }, 1800],
])('%s', (_, change, total) => {
  expect(score({ ...sure, ...change }, stakes)).toBeCloseTo(total);
});

test('a failure that others make good costs only its time', () => {
  expect(score({ ...sure, chance: 0.5 }, { ...stakes, lastHope: 0 })).toBeCloseTo(850);
});

test.each([
  ['cost', 810],
  ['balanced', 850],
  ['latency', 1050],
] as const)('%s: a second is worth what the operator says', (preset, total) => {
  expect(score({ ...sure, waitMs: 1000 }, stakesOf(meanCost, preset, 1))).toBeCloseTo(total);
});

test('the best has weight 1, and each 5 % more costs a factor of e', () => {
  const scores = [100, 105, 110, 1000, Number.POSITIVE_INFINITY];
  const expected = [1, Math.exp(-1), Math.exp(-2), 0, 0];
  for (const [place, each] of scores.entries())
    expect(weightOf(each, 100, widthAfter(0))).toBeCloseTo(expected[place] ?? 0);
  expect([weightOf(0, 0, 1), weightOf(5, 0, 1)]).toEqual([1, 0]);
});

test('after two failures the draw gets flatter, and flatter with each', () => {
  const second = [0, 1, 2, 3].map((tried) => weightOf(120, 100, widthAfter(tried)));
  for (const [place, exponent] of [-4, -4, -1, -0.25].entries())
    expect(second[place]).toBeCloseTo(Math.exp(exponent));
});

test('draws follow the weights, and never fall on one without any', () => {
  const uniform = chance(3);
  const counts = [0, 0, 0];
  for (let n = 0; n < 30_000; n++) {
    const place = drawPlace([1, 0, 2], [0, 1, 2], 3, uniform);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  expect(counts[1]).toBe(0);
  expect((counts[2] ?? 0) / (counts[0] ?? 1)).toBeCloseTo(2, 0);
});

test('a higher score never has a higher share', () => {
  const scores = fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(scores, fc.nat(), fc.double({ min: 1, max: 10, noNaN: true }), (before, pick, factor) => {
      const place = pick % before.length;
      const after = before.with(place, (before[place] ?? 0) * factor);
      const share = (all: readonly number[]) => {
        const best = Math.min(...all);
        const weights = all.map((each) => weightOf(each, best, widthAfter(0)));
        return (weights[place] ?? 0) / weights.reduce((sum, weight) => sum + weight, 0);
      };
      return share(after) <= share(before) + 1e-12;
    }),
  );
});

test('the tier is that of the input, and an unknown price has none', () => {
  const [low, high] = [priceOf(2n), priceOf(5n)].flatMap(({ tiers }) => tiers);
  if (low === undefined || high === undefined) throw new Error('the fixture has one tier each');
  const tiers = ratesOf({ id: '', effectiveFromMs: 0, tiers: [low, { ...high, aboveInputTokens: 1000 }] });
  expect([0, 1000, 1001].map((tokens) => ratesFor(tiers, tokens)?.input)).toEqual([2, 2, 5]);
  expect(ratesFor([], 10)).toBeNull();
});
