import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chance } from '../route.fixture.ts';
import { drawPlace, weightsOf } from './selection.ts';

test('the best has weight 1, and each 5 % more costs a factor of e', () => {
  expect(weightsOf([100, 105, 110, Number.POSITIVE_INFINITY])).toEqual([
    1,
    expect.closeTo(Math.exp(-1)),
    expect.closeTo(Math.exp(-2)),
    0,
  ]);
  expect(weightsOf([0, 5])).toEqual([1, 0]);
});

test('after two failures the draw gets flatter, and flatter with each', () => {
  const second = [0, 1, 2, 3].map((tried) => weightsOf([100, 120], tried)[1]);
  for (const [place, exponent] of [-4, -4, -1, -0.25].entries())
    expect(second[place]).toBeCloseTo(Math.exp(exponent));
});

test('draws follow the weights, and never fall on one without any', () => {
  const uniform = chance(3);
  const counts = [0, 0, 0];
  for (let n = 0; n < 30_000; n++) {
    const place = drawPlace([1, 0, 2], uniform);
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
        const weights = weightsOf(all);
        return (weights[place] ?? 0) / weights.reduce((sum, weight) => sum + weight, 0);
      };
      return share(after) <= share(before) + 1e-12;
    }),
  );
});
