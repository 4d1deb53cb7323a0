import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChannelFailure, failuresKept } from '../../ports/channel-history.ts';
import { type CellCounts, cellMs, dayMs } from '../../ports/status.ts';
import { addValue, type Spread, writeSpread } from '../../status/spread.ts';
import { ChannelCourses } from './channel-courses.ts';
import { migrate } from './migrations.ts';
import { StatusMeasures } from './status-measures.ts';

const startMs = Date.UTC(2026, 10, 22);
const nowMs = startMs + dayMs;
let database: DatabaseSync;
let measures: StatusMeasures;
let courses: ChannelCourses;

beforeEach(() => {
  database = new DatabaseSync(':memory:', { readBigInts: true });
  migrate(database);
  measures = new StatusMeasures(database);
  courses = new ChannelCourses(database);
});
afterEach(() => database.close());

function cell(name: string, atMs: number, good: number, faults: string | null, ttftMs = 100): CellCounts {
  const spread: Spread = new Map();
  for (let n = 0; n < good; n++) addValue(spread, ttftMs);
  const bad = (faults ?? '').split(' ').reduce((sum, each) => sum + Number(each.split(':')[1] ?? 0), 0);
  const counts = { good, bad, probesGood: 0, probesBad: 0, spread: writeSpread(spread) };
  const counted = { kind: 'channel' as const, name, startMs: atMs, ...counts };
  return faults === null ? counted : { ...counted, faults };
}

const failure = (n: number, channelId = 'a'): ChannelFailure => ({
  ...{ channelId, atMs: nowMs - 1000 + n, traceId: String(n).padStart(32, '0'), model: 'm' },
  ...{ upstreamModel: 'up', kind: 'server-error', words: n % 2 === 0 ? null : `boom ${n}` },
});

describe('the course of a channel', () => {
  test('sums cells of several processes into steps, with errors by kind and quantiles', () => {
    const at = startMs + 3 * cellMs;
    measures.add([cell('a', at, 9, 'rate-limited:1', 100)], nowMs);
    measures.add([cell('a', at, 90, 'rate-limited:2 silent:3', 100)], nowMs);
    measures.add([cell('a', at + cellMs, 5, null, 3200), cell('b', at, 1, 'lost:1')], nowMs);
    const span = { fromMs: startMs, stepMs: 3 * cellMs, steps: 96 };
    const points = courses.course('a', span);
    expect(points).toHaveLength(96);
    expect(points[0]).toEqual({
      ...{ startMs, good: 0, bad: 0, ttftP50Ms: null, ttftP95Ms: null, faults: {} },
    });
    expect(points[1]).toMatchObject({ good: 104, bad: 6, faults: { 'rate-limited': 3, silent: 3 } });
    expect(points[1]?.ttftP50Ms).toBeCloseTo(100, -1);
    expect(points[1]?.ttftP95Ms).toBeLessThan(200);
  });

  test('of every channel by hour is null where nobody called', () => {
    measures.add([cell('a', startMs, 3, 'cut:1'), cell('b', startMs + 2 * 3_600_000, 2, null)], nowMs);
    const short = courses.courses({ fromMs: startMs, stepMs: 3_600_000, steps: 3 });
    expect(short).toEqual([
      { channelId: 'a', calls: 4, success: [0.75, null, null] },
      { channelId: 'b', calls: 2, success: [null, null, 1] },
    ]);
  });

  test('leaves out kinds of failures that this version does not know', () => {
    measures.add([cell('a', startMs, 0, 'from-the-future:2 lost:1')], nowMs);
    expect(courses.course('a', { fromMs: startMs, stepMs: cellMs, steps: 1 })[0]?.faults).toEqual({
      lost: 1,
    });
  });
});

describe('failures of a channel', () => {
  test('the newest are kept, newest first, and those of other channels stay', () => {
    measures.add([], nowMs, [failure(1, 'b')]);
    for (let n = 0; n < failuresKept + 5; n++) measures.add([], nowMs, [failure(n)]);
    const kept = courses.failures('a', 100);
    expect(kept).toHaveLength(failuresKept);
    expect(kept[0]).toEqual(failure(failuresKept + 4));
    expect(kept.at(-1)).toEqual(failure(5));
    expect(courses.failures('a', 3)).toHaveLength(3);
    expect(courses.failures('b', 10)).toEqual([failure(1, 'b')]);
  });

  test('are let go of after as long as days are kept', () => {
    measures.add([], nowMs, [failure(1)]);
    measures.add([], nowMs + 92 * dayMs, []);
    expect(courses.failures('a', 10)).toEqual([]);
  });
});
