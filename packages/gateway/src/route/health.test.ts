import { expect, test } from 'vitest';
import { drawBeta, TargetHealth } from './health.ts';
import { chance } from './route.fixture.ts';

function after(successes: number, failures: number, weight = 1): TargetHealth {
  const health = new TargetHealth();
  for (let n = 0; n < successes; n++) health.succeeded(0);
  for (let n = 0; n < failures; n++) health.failed(0, weight, 1000);
  return health;
}

test('nothing known is 97 %, and evidence is added to eight such calls', () => {
  expect(after(0, 0).chance(0)).toBeCloseTo(0.97);
  expect(after(12, 0).chance(0)).toBeCloseTo((8 * 0.97 + 12) / 20);
  expect(after(0, 2, 2).chance(0)).toBeCloseTo((8 * 0.97) / 12);
});

test('the worse of the last seconds and the last minutes counts', () => {
  const health = after(1000, 0);
  for (let n = 0; n < 8; n++) health.failed(60_000, 1, 1000);
  expect(health.chance(60_000)).toBeLessThan(0.9);
  const recovered = after(0, 100);
  for (let n = 0; n < 100; n++) recovered.succeeded(60_000);
  expect(recovered.chance(60_000)).toBeLessThan(0.7);
});

test('what happened fades', () => {
  const health = after(0, 50);
  expect(health.chance(0)).toBeLessThan(0.2);
  expect(health.chance(3_600_000)).toBeCloseTo(0.97);
});

test('the chance keeps its distance from certainty', () => {
  expect(after(1e6, 0).chance(0)).toBe(0.9995);
  expect(after(0, 1e6).chance(0)).toBe(0.02);
});

test('answers that break off are a share of those that began', () => {
  const health = after(90, 0);
  expect(health.breakShare(0)).toBeLessThan(0.001);
  for (let n = 0; n < 30; n++) health.broke(0);
  expect(health.breakShare(0)).toBeCloseTo(0.33);
});

test('a run of failures does not make failing usual, what was before it does', () => {
  const health = after(70, 30);
  expect(health.usualFailureShare(0, 0)).toBeCloseTo(0.28);
  for (let n = 0; n < 10; n++) health.failed(0, 1, 1000);
  expect(health.usualFailureShare(0, 10)).toBeCloseTo(0.28);
});

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
