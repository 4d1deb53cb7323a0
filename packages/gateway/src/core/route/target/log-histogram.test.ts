import { expect, test } from 'vitest';
import { LogHistogram } from './log-histogram.ts';

test('quantiles are right to the width of a bin', () => {
  const histogram = new LogHistogram();
  for (let n = 1; n <= 1000; n++) histogram.note(n * 10, 0);
  const { p50 = 0, p95 = 0, p99 = 0 } = histogram.quantiles(0) ?? {};
  expect([p50 / 5000, p95 / 9500, p99 / 9900].every((ratio) => ratio >= 1 && ratio < 1.13)).toBe(true);
});

test('says nothing of four values, nor of many that are long past', () => {
  const histogram = new LogHistogram();
  for (let n = 0; n < 4; n++) histogram.note(1000, 0);
  expect(histogram.quantiles(0)).toBeNull();
  for (let n = 0; n < 40; n++) histogram.note(1000, 0);
  expect(histogram.quantiles(2000)).not.toBeNull();
  expect(histogram.quantiles(1_500_000)).toBeNull();
});

test('the new outweighs the old, however long it runs', () => {
  const histogram = new LogHistogram();
  for (let hour = 0; hour < 50; hour++) {
    for (let n = 0; n < 20; n++) histogram.note(hour % 2 === 0 ? 100 : 10_000, hour * 3_600_000);
  }
  expect(histogram.quantiles(49 * 3_600_000)?.p50).toBeGreaterThan(9000);
});

test('values beyond the scale are held at its ends', () => {
  const histogram = new LogHistogram();
  for (const value of [0, 1, 0, 1, 0, 1e9, 1e9]) histogram.note(value, 0);
  const { p50 = 0, p99 = 0 } = histogram.quantiles(0) ?? {};
  expect(p50).toBeLessThan(60);
  expect(p99).toBeGreaterThan(70_000);
});
