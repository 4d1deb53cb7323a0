import { expect, test } from 'vitest';
import { Silence } from './silence.ts';

const usual = { p50: 1000, p95: 2000, p99: 4000 };

function sentAt(...startsMs: readonly number[]): Silence {
  const silence = new Silence();
  for (const startMs of startsMs) silence.sent(startMs);
  return silence;
}

test.each([
  ['three that nearly all would have answered', [0, 10, 20], 3021, true],
  ['three that are not late yet', [0, 10, 20], 3019, false],
  ['two, however late', [0, 10], 60_000, false],
  ['a dozen that half would have answered', Array.from({ length: 12 }, (_, n) => n), 1012, true],
  ['eleven of them', Array.from({ length: 11 }, (_, n) => n), 1500, false],
])('%s', (_, startsMs, nowMs, isOverdue) => {
  expect(sentAt(...startsMs).isOverdue(nowMs, usual)).toBe(isOverdue);
});

test('an answer clears what was sent before it, not what was sent after', () => {
  const silence = sentAt(0, 10, 20, 30, 40);
  silence.began(10);
  expect(silence.isOverdue(5000, usual)).toBe(true);
  silence.began(20);
  expect(silence.isOverdue(5000, usual)).toBe(false);
});

test('a call that ends otherwise is owed nothing, and one that is unknown changes nothing', () => {
  const silence = sentAt(0, 10, 20);
  silence.ended(99);
  expect(silence.isOverdue(5000, usual)).toBe(true);
  silence.ended(10);
  expect(silence.isOverdue(5000, usual)).toBe(false);
});

test('the first to wait is news once it waits longer than nearly all', () => {
  expect(sentAt(0).noticedMs(2000, usual)).toBe(0);
  expect(sentAt(0).noticedMs(2001, usual)).toBe(3 * 2001);
  expect(sentAt().noticedMs(1e6, null)).toBe(0);
});
