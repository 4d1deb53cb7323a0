import { expect, test } from 'vitest';
import { decayFactor, SteadyTime } from './time.ts';

test('goes on with the clock, stands when it is set back, and leaps by an hour at the most', () => {
  const time = new SteadyTime();
  const readings = [5000, 5250, 1000, 1100, 1e15, 1e15 + 1].map((clockMs) => time.read(clockMs));
  expect(readings).toEqual([0, 250, 250, 350, 3_600_350, 3_600_351]);
});

test.each([
  [0, 1],
  [-5, 1],
  [100, 0.5],
  [300, 0.125],
  [1e12, 0],
])('after %d ms of a half-life of 100 ms', (elapsedMs, left) => {
  expect(decayFactor(elapsedMs, 100)).toBe(left);
});
