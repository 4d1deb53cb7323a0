import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import {
  type ChannelFailure,
  type CoursePoint,
  type CourseSpan,
  failuresKept,
  type ShortCourse,
} from '../../ports/channel-history.ts';
import type { OutcomeCase } from '../../route/outcome.ts';
import { addFaults, type Faults } from '../../status/faults.ts';
import { addSpread, quantile, readSpread, type Spread } from '../../status/spread.ts';

/** The last day of channels, made of the cells that their states are judged by. */
export class ChannelCourses {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  course(channelId: string, { fromMs, stepMs, steps }: CourseSpan): readonly CoursePoint[] {
    const points = Array.from({ length: steps }, (_, at) => emptyPoint(fromMs + at * stepMs));
    const rows = this.#database
      .prepare(
        `SELECT start_ms, good, bad, spread, faults FROM status_cells
         WHERE kind = 'channel' AND name = ? AND start_ms >= ? AND start_ms < ?`,
      )
      .all(channelId, fromMs, fromMs + steps * stepMs);
    for (const row of rows) {
      const point = points[Math.floor((Number(row['start_ms']) - fromMs) / stepMs)];
      if (point === undefined) continue;
      point.good += Number(row['good']);
      point.bad += Number(row['bad']);
      addSpread(point.spread, readSpread(String(row['spread'])));
      addFaults(point.faults, String(row['faults']));
    }
    return points.map(({ spread, faults, ...point }) => ({
      ...point,
      ttftP50Ms: quantile(spread, 0.5),
      ttftP95Ms: quantile(spread, 0.95),
      faults: Object.fromEntries(faults),
    }));
  }

  courses({ fromMs, stepMs, steps }: CourseSpan): readonly ShortCourse[] {
    const rows = this.#database
      .prepare(
        `SELECT name, (start_ms - ?) / ? AS step, sum(good) AS good, sum(bad) AS bad FROM status_cells
         WHERE kind = 'channel' AND start_ms >= ? AND start_ms < ? GROUP BY name, step`,
      )
      .all(BigInt(fromMs), BigInt(stepMs), fromMs, fromMs + steps * stepMs);
    return [...Map.groupBy(rows, (row) => String(row['name']))].map(([channelId, own]) => {
      const success = new Array<number | null>(steps).fill(null);
      let calls = 0;
      for (const row of own) {
        const [good, all] = [Number(row['good']), Number(row['good']) + Number(row['bad'])];
        calls += all;
        if (all > 0) success[Number(row['step'])] = good / all;
      }
      return { channelId, calls, success };
    });
  }

  failures(channelId: string, limit: number): readonly ChannelFailure[] {
    const rows = this.#database
      .prepare('SELECT * FROM channel_failures WHERE channel_id = ? ORDER BY id DESC LIMIT ?')
      .all(channelId, limit);
    return rows.map(toFailure);
  }
}

/** Within a transaction: keeps the last failures of each channel. */
export function noteFailures(database: DatabaseSync, failures: readonly ChannelFailure[]): void {
  if (failures.length === 0) return;
  const insert = database.prepare(
    `INSERT INTO channel_failures (channel_id, at_ms, trace_id, model, upstream_model, kind, words)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const { channelId, atMs, traceId, model, upstreamModel, kind, words } of failures)
    insert.run(channelId, atMs, traceId, model, upstreamModel, kind, words);
  const trim = database.prepare(
    `DELETE FROM channel_failures WHERE channel_id = ?1 AND id <= coalesce(
       (SELECT id FROM channel_failures WHERE channel_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2), 0)`,
  );
  for (const channelId of new Set(failures.map((failure) => failure.channelId)))
    trim.run(channelId, failuresKept);
}

/** Within a transaction: lets go of failures that nobody asks about any more. */
export function forgetFailures(database: DatabaseSync, beforeMs: number): void {
  database.prepare('DELETE FROM channel_failures WHERE at_ms < ?').run(beforeMs);
}

function emptyPoint(startMs: number) {
  const [spread, faults]: [Spread, Faults] = [new Map(), new Map()];
  return { startMs, good: 0, bad: 0, spread, faults };
}

function toFailure(row: Readonly<Record<string, SQLOutputValue>>): ChannelFailure {
  return {
    channelId: String(row['channel_id']),
    atMs: Number(row['at_ms']),
    traceId: String(row['trace_id']),
    model: String(row['model']),
    upstreamModel: String(row['upstream_model']),
    // The port's types are the only source of the column.
    kind: String(row['kind']) as OutcomeCase,
    words: row['words'] === null ? null : String(row['words']),
  };
}
