import { expect, test } from 'vitest';
import { Hang, Latency, LogHistogram, Silence } from './latency.ts';

function steady(): Latency {
  const latency = new Latency();
  for (let n = 0; n < 100; n++) latency.began(1000, n * 1000);
  return latency;
}

test('a target that gets slow is noticed sooner than one that gets fast', () => {
  const [slower, faster] = [steady(), steady()];
  slower.began(2000, 99_100);
  faster.began(0, 99_100);
  expect(slower.expectedMs(0, true, 99_100)).toBeCloseTo(1240);
  expect(faster.expectedMs(0, true, 99_100)).toBeCloseTo(920);
});

/** Answers between 500 ms and 2,000 ms. */
function varied(): Latency {
  const latency = new Latency();
  for (let n = 0; n < 200; n++) latency.began(500 * 4 ** ((19 - (n % 20)) / 19), n * 1000);
  return latency;
}

test('where answers are rare, one tells more', () => {
  const latency = varied();
  const before = latency.expectedMs(0, true, 230_000);
  latency.began(1600, 230_000);
  expect(latency.expectedMs(0, true, 230_000)).toBeCloseTo((before + 1600) / 2);
});

test('later than nearly all before it: the next one may be later yet', () => {
  const latency = varied();
  latency.began(9000, 230_000);
  expect(latency.expectedMs(0, true, 230_000)).toBeGreaterThan(9000);
});

test('a third of what was expected is a recovery, half of it is chance', () => {
  const latency = varied();
  for (let n = 0; n < 40; n++) latency.began(9000, 230_000 + n * 20_000);
  const before = latency.expectedMs(0, true, 1_010_000);
  const [recovered, lucky] = [1000, 4000].map((afterMs) => {
    const fresh = varied();
    for (let n = 0; n < 40; n++) fresh.began(9000, 230_000 + n * 20_000);
    fresh.began(afterMs, 1_030_000);
    return fresh.expectedMs(0, true, 1_030_000);
  });
  expect(recovered).toBeLessThan(0.7 * before);
  expect(lucky).toBeGreaterThan(0.9 * before);
});

test('a bad moment is forgotten when nobody asks any more', () => {
  const latency = steady();
  for (let n = 0; n < 20; n++) latency.began(20_000, 100_000);
  expect(latency.expectedMs(0, true, 100_000)).toBeGreaterThan(15_000);
  expect(latency.expectedMs(0, true, 3_600_000)).toBeLessThan(8000);
});

test('what is no stream is waited for to its end', () => {
  const latency = steady();
  for (let n = 0; n < 100; n++) latency.wrote(1000, 10_000);
  expect(latency.expectedMs(500, false, 99_000)).toBeCloseTo(6000, -2);
  latency.wrote(3, 10_000);
  latency.wrote(1000, 0);
  expect(latency.expectedMs(500, false, 99_000)).toBeCloseTo(6000, -2);
});

test.each([
  [10, 4000],
  [3000, 9000],
  [60_000, 30_000],
])('answers within %d ms: a deadline of about %d ms', (afterMs, deadlineMs) => {
  const latency = new Latency();
  for (let n = 0; n < 20; n++) latency.began(afterMs, 0);
  expect(latency.deadlineMs(0, null) / deadlineMs).toBeGreaterThanOrEqual(1);
  expect(latency.deadlineMs(0, null) / deadlineMs).toBeLessThan(1.13);
});

test('time-outs do not shrink the deadline that made them, once an answer was as slow', () => {
  const latency = steady();
  const beforeMs = latency.deadlineMs(100_000, null);
  for (let n = 0; n < 20; n++) latency.timedOut(beforeMs, 100_000);
  expect(latency.deadlineMs(102_000, null)).toBe(beforeMs);
  latency.began(beforeMs / 2, 102_000);
  expect(latency.deadlineMs(104_000, null)).toBeGreaterThan(beforeMs);
});

test('time-outs of a hang make no caller wait longer for the next one; only probes', () => {
  const latency = steady();
  for (let n = 0; n < 20; n++) latency.timedOut(4000, 100_000);
  expect(latency.probeDeadlineMs(102_000, null)).toBe(12_000);
  latency.began(300, 102_000);
  expect([latency.deadlineMs(104_000, null), latency.probeDeadlineMs(104_000, null)]).toEqual([4000, 4000]);
});

test('a deadline where little is known is that of the model elsewhere', () => {
  const usual = { p50: 1000, p95: 2000, p99: 3000 };
  expect(new Latency().deadlineMs(0, usual)).toBe(9000);
  expect(new Latency().deadlineMs(0, null)).toBe(15_000);
  expect(steady().deadlineMs(100_000, usual)).toBe(steady().deadlineMs(100_000, null));
});

test('a stream is late when nearly all would have begun, and never before one and a half seconds', () => {
  expect(new Latency().lateMs(0)).toBe(2600);
  const quick = new Latency();
  for (let n = 0; n < 100; n++) quick.began(200, n * 1000);
  expect(quick.lateMs(100_000)).toBe(1500);
  expect(steady().lateMs(100_000)).toBeGreaterThan(1300);
  expect(varied().lateMs(200_000)).toBeGreaterThan(1.3 * 1700);
});

test('one that was given up for another teaches only where it was slow already', () => {
  const latency = steady();
  latency.outrun(300, 99_100);
  expect(latency.expectedMs(0, true, 99_100)).toBeCloseTo(1000);
  latency.outrun(3000, 99_100);
  expect(latency.expectedMs(0, true, 99_100)).toBeGreaterThan(1200);
});

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

function hanging(): Hang {
  const hang = new Hang();
  for (const startMs of [2000, 1000, 3000]) {
    expect(hang.waitedMs(0, 9000)).toBe(0);
    hang.timedOut(startMs);
  }
  return hang;
}

test('a call waits in vain from when both are there, the hang and the call', () => {
  expect(hanging().waitedMs(0, 9000)).toBe(8000);
  expect(hanging().waitedMs(5000, 9000)).toBe(4000);
});

test('it is over when a call answers that was sent since, and not when an earlier one does', () => {
  const hang = hanging();
  hang.began(999);
  expect(hang.waitedMs(0, 9000)).toBe(8000);
  hang.began(1000);
  expect(hang.waitedMs(0, 9000)).toBe(0);
  hang.timedOut(9000);
  expect(hang.waitedMs(0, 20_000)).toBe(0);
});
