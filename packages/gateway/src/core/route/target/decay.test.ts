import { expect, test } from 'vitest';
import { decayFactor } from './decay.ts';

test.each([
  [0, 1],
  [-5, 1],
  [100, 0.5],
  [300, 0.125],
  [1e12, 0],
])('after %d ms of a half-life of 100 ms', (elapsedMs, left) => {
  expect(decayFactor(elapsedMs, 100)).toBe(left);
});
