import { type Kysely, type RawBuilder, sql } from 'kysely';
import { billableStatuses } from '../money/postings.ts';
import type { UsageEntry, UsageFilter, UsagePage, UsagePeriod, UsagePlace } from '../ports/usage-report.ts';
import { readRecord } from './columns.ts';
import { unknownModel } from './model-names.ts';
import { slotMs, spanMs, startOf } from './reports.ts';
import type { Schema } from './schema.ts';

/** A page looks at so many calls at the most, and at the quarters of so many days; then it says how far it came. */
const [callsMax, daysMax] = [5_000, 6];
/** Calls that are looked at by one statement. */
const stepMax = 1_000;
/** Statements that a page takes to look at calls: those that a filter lets through may be far from each other. */
const stepsMax = 40;

/** Calls of all keys that have not ended, as many as are looked at. */
const openMax = 20_000;

/** Calls that a filter let through, in their order, and the place where looking for more was given up; null where there are no more. */
interface Found {
  readonly traceIds: readonly string[];
  readonly end: UsagePlace | null;
}

/**
 * The calls of a key, newest first. Those that a filter lets through are looked for where the sums of days and of quarters of an hour say that
 * there are any, so a filter that matches nothing reads no calls (ADR 41).
 */
export class UsagePages {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async page(
    keyId: string,
    period: UsagePeriod,
    filter: UsageFilter,
    limit: number,
    after: UsagePlace | null,
  ): Promise<UsagePage> {
    const before = after ?? { atMs: period.toMs, traceId: '' };
    if (isContradiction(filter)) return { entries: [], next: null, searchedToMs: null };
    const span = { keyId, fromMs: period.fromMs, filter };
    const found =
      Object.keys(filter).length === 0
        ? await this.#newest(span, before, limit + 1)
        : await this.#search(span, before, limit + 1);
    const entries = await this.#read(found.traceIds.slice(0, limit));
    const last = entries.at(-1);
    if (found.traceIds.length > limit && last !== undefined)
      return { entries, next: { atMs: last.startedAtMs, traceId: last.traceId }, searchedToMs: null };
    return { entries, next: found.end, searchedToMs: found.end?.atMs ?? null };
  }

  async find(keyId: string, traceId: string): Promise<UsageEntry | null> {
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where trace_id = ${traceId} and key_id = ${keyId}`.execute(this.#database);
    return rows[0] === undefined ? null : toUsageEntry(rows[0]);
  }

  async #newest(span: Span, before: UsagePlace, count: number): Promise<Found> {
    const { rows } = await sql<{ trace_id: string }>`select trace_id from calls where ${isIn(span, before)}
      ${newestFirst} limit ${count}`.execute(this.#database);
    return { traceIds: rows.map((row) => row.trace_id), end: null };
  }

  /** Calls that have not ended are in no sum, and few. */
  async #search(span: Span, before: UsagePlace, count: number): Promise<Found> {
    const { rows: open } = await sql<PlaceRow>`select trace_id, started_at_ms
      from (select * from calls where run is not null limit ${openMax}) as open
      where status = 'open' and ${isIn(span, before)} and ${passes(span.filter)}
      ${newestFirst} limit ${count}`.execute(this.#database);
    const isOpen = span.filter.status === 'open';
    const ended = isOpen ? { rows: [], end: null } : await this.#searchEnded(span, before, count);
    const { end } = ended;
    const all = [...open.filter((row) => end === null || isNewer(row, end)), ...ended.rows];
    return { traceIds: all.sort(byNewest).map((row) => row.trace_id), end };
  }

  async #searchEnded(span: Span, before: UsagePlace, count: number) {
    const rows: PlaceRow[] = [];
    const left = { calls: callsMax, steps: stepsMax, days: daysMax };
    for (const day of await this.#days(span, before)) {
      if (left.days-- === 0) return { rows, end: { atMs: day + spanMs.day, traceId: '' } };
      for (const stretch of await this.#stretches(span, day, before)) {
        let top = earlier(before, { atMs: stretch.toMs, traceId: '' });
        for (let isThrough = false; !isThrough; ) {
          if (left.calls <= 0 || left.steps-- === 0) return { rows, end: top };
          const looked = await this.#look({ ...span, fromMs: Math.max(stretch.fromMs, span.fromMs) }, top);
          rows.push(...looked.filter((row) => row.passes === 1n));
          if (rows.length >= count) return { rows, end: null };
          left.calls -= looked.length;
          isThrough = looked.length < stepMax;
          const last = looked.at(-1);
          if (last !== undefined) top = placeOf(last);
        }
      }
    }
    return { rows, end: null };
  }

  /** The days, newest first, whose sums have calls that may pass; all of them, where their sums are still to be made. */
  async #days({ keyId, fromMs, filter }: Span, { atMs }: UsagePlace): Promise<readonly number[]> {
    const firstMs = startOf(fromMs, spanMs.day);
    const { rows } = await sql<{ start_ms: bigint }>`
      select start_ms from usage_spans where key_id = ${keyId} and span = 'day'
        and start_ms >= ${BigInt(firstMs)} and start_ms <= ${BigInt(atMs)} and ${mayHave(filter)}
      union select slot_start_ms - slot_start_ms % ${spanMs.day} from usage_slots
        where exists (select 1 from usage_spans_due where key_id = ${keyId}) and key_id = ${keyId}
        and slot_start_ms >= ${BigInt(firstMs)} and slot_start_ms <= ${BigInt(atMs)} and ${mayHave(filter)}
      order by start_ms desc`.execute(this.#database);
    return rows.map((row) => Number(row.start_ms));
  }

  /** The quarters of an hour of a day whose sums have such calls, newest first, with those that are neighbours together. */
  async #stretches(
    { keyId, filter }: Span,
    dayMs: number,
    { atMs }: UsagePlace,
  ): Promise<readonly UsagePeriod[]> {
    const { rows } = await sql<{ start_ms: bigint }>`select slot_start_ms as start_ms from usage_slots
      where key_id = ${keyId} and slot_start_ms >= ${BigInt(dayMs)} and slot_start_ms < ${BigInt(dayMs + spanMs.day)}
        and slot_start_ms <= ${BigInt(atMs)} and ${mayHave(filter)}
      group by slot_start_ms order by slot_start_ms desc`.execute(this.#database);
    const stretches: { fromMs: number; toMs: number }[] = [];
    for (const { start_ms } of rows) {
      const [fromMs, newer] = [Number(start_ms), stretches.at(-1)];
      if (newer?.fromMs === fromMs + slotMs) newer.fromMs = fromMs;
      else stretches.push({ fromMs, toMs: fromMs + slotMs });
    }
    return stretches;
  }

  /** The next calls of a stretch, whether they pass or not. */
  async #look(span: Span, before: UsagePlace): Promise<readonly LookedRow[]> {
    const { rows } = await sql<LookedRow>`select trace_id, started_at_ms,
        status <> 'open' and ${passes(span.filter)} as passes
      from calls where ${isIn(span, before)} ${newestFirst} limit ${stepMax}`.execute(this.#database);
    return rows;
  }

  async #read(traceIds: readonly string[]): Promise<readonly UsageEntry[]> {
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where trace_id in (select value from json_each(${JSON.stringify(traceIds)}))
      ${newestFirst}`.execute(this.#database);
    return rows.map(toUsageEntry);
  }
}

/** The calls of a key from a moment on, and those of them that are wanted. */
export interface Span {
  readonly keyId: string;
  readonly fromMs: number;
  readonly filter: UsageFilter;
}

interface PlaceRow {
  readonly trace_id: string;
  readonly started_at_ms: bigint;
}

interface LookedRow extends PlaceRow {
  readonly passes: bigint;
}

export const newestFirst = sql`order by started_at_ms desc, trace_id desc`;

export function isIn({ keyId, fromMs }: Span, before: UsagePlace): RawBuilder<unknown> {
  const atMs = BigInt(before.atMs);
  return sql`key_id = ${keyId} and started_at_ms >= ${BigInt(fromMs)} and started_at_ms <= ${atMs}
    and (started_at_ms < ${atMs} or trace_id < ${before.traceId})`;
}

/** Null in the place of a condition would let nothing through, so a filter without one is true. */
export function passes({ model, status, billed }: UsageFilter): RawBuilder<unknown> {
  const conditions = [
    ...(model === undefined ? [] : [sql`${model} in (model_requested, model_summed)`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(billed === undefined
      ? []
      : [sql`status <> 'open' and (unbilled_reason is null) = ${billed ? 1n : 0n}`]),
  ];
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`;
}

/** Tells by a row of sums whether calls of it may pass. What callers make up is summed up under one name. */
function mayHave({ model, status, billed }: UsageFilter): RawBuilder<unknown> {
  const conditions = [
    ...(model === undefined ? [] : [sql`model in (${model}, ${unknownModel})`]),
    ...(billed === true ? [sql`billed_calls > 0`] : []),
    ...(billed === false || isNeverBilled(status) ? [sql`calls > billed_calls`] : []),
  ];
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`;
}

function isNeverBilled(status: UsageFilter['status']): boolean {
  return status !== undefined && !billableStatuses.includes(status);
}

/** No call is this: the ledger's own rules forbid it. */
export function isContradiction({ status, billed }: UsageFilter): boolean {
  return (billed === true && isNeverBilled(status)) || (billed === false && status === 'open');
}

function placeOf(row: PlaceRow): UsagePlace {
  return { atMs: Number(row.started_at_ms), traceId: row.trace_id };
}

function isNewer(row: PlaceRow, place: UsagePlace): boolean {
  const { atMs, traceId } = placeOf(row);
  return atMs > place.atMs || (atMs === place.atMs && traceId >= place.traceId);
}

function byNewest(a: PlaceRow, b: PlaceRow): number {
  return Number(b.started_at_ms - a.started_at_ms) || (a.trace_id < b.trace_id ? 1 : -1);
}

function earlier(one: UsagePlace, other: UsagePlace): UsagePlace {
  return one.atMs < other.atMs ? one : other;
}

/** A row of `calls` as its owner may see it. */
export function toUsageEntry(row: Readonly<Record<string, unknown>>): UsageEntry {
  const record = readRecord(row);
  return {
    traceId: record.traceId,
    status: record.status,
    unbilledReason: record.unbilledReason,
    surface: record.surface,
    modelRequested: record.modelRequested,
    modelServed: record.modelServed,
    stream: record.stream,
    usage: record.usage,
    usageSource: record.usageSource,
    chargeNanoUsd: record.chargeNanoUsd,
    httpStatus: record.httpStatus,
    errorCode: record.errorCode,
    finishReason: record.finishReason,
    losses: record.losses,
    ttftMs: record.ttftMs,
    durationMs: record.finishedAtMs === null ? null : record.durationMs,
    attempts: record.attempts.length,
    clientRequestId: record.clientRequestId,
    tag: record.tag,
    startedAtMs: record.startedAtMs,
    finishedAtMs: record.finishedAtMs,
  };
}
