import { expect, test } from 'vitest';
import { Capacity } from './capacity.ts';

/** Ten calls a second for ten seconds, and a refusal at their end. */
function refusedAtTen(waitMs: number | null = null): Capacity {
  const capacity = new Capacity();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 100) capacity.sent(nowMs, 0);
  capacity.refused(10_000, waitMs);
  return capacity;
}

/** Calls it lets through between two times, looked for every millisecond. */
function admitted(capacity: Capacity, fromMs: number, toMs: number): number {
  let count = 0;
  for (let nowMs = fromMs; nowMs < toMs; nowMs++) {
    if (capacity.state(nowMs, 0) !== 'free') continue;
    capacity.sent(nowMs, 0);
    count++;
  }
  return count;
}

test('nothing is held back before the first refusal', () => {
  expect(admitted(new Capacity(), 0, 1000)).toBe(1000);
});

test('a refusal lowers the rate to seven tenths of what was sent', () => {
  const capacity = refusedAtTen();
  expect(capacity.state(10_000, 0)).toBe('capped');
  expect(capacity.freeAtMs(10_000)).toBeGreaterThan(10_000);
  expect(admitted(capacity, 10_000, 15_000)).toBeGreaterThan(30);
  expect(admitted(capacity, 15_000, 20_000)).toBeLessThan(45);
});

test('refusals of one burst count once', () => {
  const capacity = refusedAtTen();
  for (let n = 1; n < 20; n++) capacity.refused(10_000 + n, null);
  expect(admitted(capacity, 11_000, 16_000)).toBeGreaterThan(25);
});

test('clean seconds raise it again, and in the end it is forgotten', () => {
  const capacity = refusedAtTen();
  for (let nowMs = 12_000; nowMs <= 20_000; nowMs += 2000) capacity.succeeded(nowMs);
  expect(admitted(capacity, 21_000, 22_000)).toBeGreaterThan(9);
  capacity.succeeded(140_000);
  expect(admitted(capacity, 140_000, 141_000)).toBe(1000);
});

test('a cap that many refusals have made tiny is back within thirty seconds of the last', () => {
  const capacity = new Capacity();
  for (let nowMs = 0; nowMs <= 40_000; nowMs += 2000) {
    capacity.sent(nowMs, 0);
    capacity.refused(nowMs, null);
  }
  expect(admitted(capacity, 41_000, 45_000)).toBeLessThan(3);
  for (let nowMs = 42_000; nowMs <= 70_000; nowMs += 100) capacity.succeeded(nowMs);
  expect(admitted(capacity, 70_000, 71_000)).toBeGreaterThanOrEqual(8);
});

test('the time it names is kept to, the longest if there are two', () => {
  const capacity = refusedAtTen(5000);
  capacity.block(10_000, 1000);
  expect(capacity.blockedUntilMs).toBe(15_000);
  expect(capacity.state(14_999, 0)).toBe('blocked');
  expect(capacity.state(15_000, 0)).not.toBe('blocked');
});

test('what is left of a limit covers a call or does not, until it resets', () => {
  const capacity = new Capacity();
  capacity.told({ requests: { left: 2, resetMs: 6000 }, tokens: { left: 1000, resetMs: 6000 } }, 0);
  expect([1000, 1001].map((tokens) => capacity.state(0, tokens))).toEqual(['free', 'no-headroom']);
  capacity.sent(0, 700);
  expect([300, 301].map((tokens) => capacity.state(0, tokens))).toEqual(['free', 'no-headroom']);
  capacity.sent(0, 100);
  expect(capacity.state(0, 1)).toBe('no-headroom');
  expect(capacity.state(6000, 5000)).toBe('free');
  capacity.told({ requests: null, tokens: null }, 6000);
  expect(capacity.state(6000, 1e9)).toBe('free');
});

test('each limit lasts until its own reset: that one of them is full again soon says nothing of the other', () => {
  const capacity = new Capacity();
  capacity.told({ requests: { left: 0, resetMs: 360_000 }, tokens: { left: 10, resetMs: 12 } }, 0);
  expect([12, 359_999, 360_000].map((nowMs) => capacity.state(nowMs, 5000))).toEqual([
    'no-headroom',
    'no-headroom',
    'free',
  ]);
  expect(capacity.resetsAtMs).toBe(360_000);
});
