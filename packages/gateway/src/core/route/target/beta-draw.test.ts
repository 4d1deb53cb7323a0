import { expect, test } from 'vitest';
import { chance } from '../route.fixture.ts';
import { drawBeta } from './beta-draw.ts';

test.each([
  [8, 0.24],
  [1, 1],
  [30, 10],
  [0.5, 0.5],
])('draws from Beta(%d, %d) have its mean and variance', (good, bad) => {
  const uniform = chance(7);
  const draws = Array.from({ length: 20_000 }, () => drawBeta(good, bad, uniform));
  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length;
  expect(mean).toBeCloseTo(good / (good + bad), 2);
  expect(variance).toBeCloseTo((good * bad) / ((good + bad) ** 2 * (good + bad + 1)), 2);
  expect(draws.every((draw) => draw >= 0 && draw <= 1)).toBe(true);
});
