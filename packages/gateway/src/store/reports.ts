import { type Kysely, sql } from 'kysely';
import { nanoUsd, zeroNanoUsd } from '../money/money.ts';
import type { ModelPage, UsageEntry, UsagePage, UsagePeriod, UsageTotals } from '../ports/usage-report.ts';
import { attemptColumns, readRecord, readUsage, usageColumns } from './columns.ts';
import type { Schema } from './schema.ts';

/**
 * Usage is summed by quarter of an hour in UTC: every offset of a time zone in use is a multiple of it, so a day
 * of any of them is a whole number of slots.
 */
export const slotMs = 15 * 60_000;

/** Start of the slot that holds this moment. */
export function slotOf(timeMs: number): number {
  return Math.floor(timeMs / slotMs) * slotMs;
}

/** The cost of all attempts of a row of `calls`. */
export const costOfCall = sql<bigint>`(select coalesce(sum(cast(attempt.value ->> ${sql.lit(attemptColumns.indexOf('cost_nano_usd'))} as integer)), 0)
  from json_each(calls.attempts) as attempt)`;

/** The attempts of a row of `calls` whose cost nobody knows. */
export const unknownCostsOfCall = sql<bigint>`(select count(*) from json_each(calls.attempts) as attempt
  where attempt.value ->> ${sql.lit(attemptColumns.indexOf('cost_nano_usd'))} is null)`;

const wholeTime: UsagePeriod = { fromMs: 0, toMs: slotMs * 1_000_000_000 };

/** Usage as SQL tells it, on any store. */
export class SqlUsageReports {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async totals(keyId: string, period: UsagePeriod | null): Promise<UsageTotals> {
    const usage = selectUsage(this.#database, keyId, period ?? wholeTime);
    const row = await this.#database
      .selectFrom(usage.as('usage'))
      .select(usageSums)
      .executeTakeFirstOrThrow();
    return toTotals(row);
  }

  async series(keyId: string, bounds: readonly number[]) {
    const [fromMs, toMs] = [bounds[0], bounds.at(-1)];
    if (fromMs === undefined || toMs === undefined || bounds.length < 2) return [];
    const usage = selectUsage(this.#database, keyId, { fromMs, toMs }, bounds);
    const rows = await this.#database
      .selectFrom(usage.as('usage'))
      .select(bucketBetween(bounds).as('bucket'))
      .select(usageSums)
      .groupBy('bucket')
      .orderBy('bucket')
      .execute();
    return rows.map((row) => ({ fromMs: bounds[Number(row.bucket)] ?? fromMs, totals: toTotals(row) }));
  }

  async byModel(
    keyId: string,
    period: UsagePeriod,
    limit: number,
    cursor: string | null,
  ): Promise<ModelPage> {
    const usage = selectUsage(this.#database, keyId, period);
    const rows = await this.#database
      .selectFrom(usage.as('usage'))
      .select('model')
      .select(usageSums)
      .where('model', '>', cursor ?? '')
      .groupBy('model')
      .orderBy('model')
      .limit(limit + 1)
      .execute();
    const models = rows.slice(0, limit).map((row) => ({ model: row.model, totals: toTotals(row) }));
    return { models, nextCursor: rows.length > limit ? (models.at(-1)?.model ?? null) : null };
  }

  async page(keyId: string, period: UsagePeriod, limit: number, cursor: string | null): Promise<UsagePage> {
    const after = cursor === null ? undefined : await this.#selectCall(keyId, cursor).executeTakeFirst();
    const rows = await this.#database
      .selectFrom('calls')
      .selectAll()
      .where('key_id', '=', keyId)
      .where('started_at_ms', '>=', BigInt(period.fromMs))
      .where('started_at_ms', '<', BigInt(period.toMs))
      .$if(after !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('started_at_ms', 'trace_id'),
            '<',
            tuple(after?.started_at_ms ?? 0n, after?.trace_id ?? ''),
          ),
        ),
      )
      .orderBy('started_at_ms', 'desc')
      .orderBy('trace_id', 'desc')
      .limit(limit + 1)
      .execute();
    const entries = rows.slice(0, limit).map(toUsageEntry);
    return { entries, nextCursor: rows.length > limit ? (entries.at(-1)?.traceId ?? null) : null };
  }

  async find(keyId: string, traceId: string): Promise<UsageEntry | null> {
    const row = await this.#selectCall(keyId, traceId).executeTakeFirst();
    return row === undefined ? null : toUsageEntry(row);
  }

  async balance(accountId: string) {
    const account = await this.#database
      .selectFrom('accounts')
      .select(['credit_limit_nano_usd', 'show_balance'])
      .where('id', '=', accountId)
      .executeTakeFirst();
    const balance = await this.#database
      .selectFrom('balances')
      .select('balance_nano_usd')
      .where('ledger_account', '=', `account:${accountId}`)
      .executeTakeFirst();
    return {
      balanceNanoUsd: nanoUsd(balance?.balance_nano_usd ?? 0n),
      limited: (account?.credit_limit_nano_usd ?? null) !== null,
      isShown: account?.show_balance === 1n,
    };
  }

  #selectCall(keyId: string, traceId: string) {
    return this.#database
      .selectFrom('calls')
      .selectAll()
      .where('trace_id', '=', traceId)
      .where('key_id', '=', keyId);
  }
}

function toUsageEntry(row: Readonly<Record<string, unknown>>): UsageEntry {
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
    startedAtMs: record.startedAtMs,
    finishedAtMs: record.finishedAtMs,
  };
}

const summedColumns = ['calls', 'billed_calls', 'charge_nano_usd', ...usageColumns] as const;

type SumRow = Readonly<Record<(typeof summedColumns)[number], bigint | null>>;

/**
 * The usage of a key in a period: the sums per quarter of an hour where one lies whole between two of the bounds, the
 * ended calls themselves where a bound cuts through it. So ninety days cost the same whatever the traffic.
 */
function selectUsage(
  database: Kysely<Schema>,
  keyId: string,
  period: UsagePeriod,
  bounds: readonly number[] = [period.fromMs, period.toMs],
) {
  const cutSlots = [...new Set(bounds.filter((bound) => bound % slotMs !== 0).map(slotOf))];
  return wholeSlots(database, keyId, period, cutSlots).unionAll(cutCalls(database, keyId, period, cutSlots));
}

function wholeSlots(
  database: Kysely<Schema>,
  keyId: string,
  period: UsagePeriod,
  cutSlots: readonly number[],
) {
  return database
    .selectFrom('usage_slots')
    .select(['slot_start_ms as at_ms', 'model', ...summedColumns])
    .where('key_id', '=', keyId)
    .where('slot_start_ms', '>=', BigInt(period.fromMs))
    .where('slot_start_ms', '<', BigInt(period.toMs))
    .where(({ eb }) => eb.and(cutSlots.map((slot) => eb('slot_start_ms', '<>', BigInt(slot)))));
}

function cutCalls(database: Kysely<Schema>, keyId: string, period: UsagePeriod, cutSlots: readonly number[]) {
  return database
    .selectFrom('calls')
    .select([
      'started_at_ms as at_ms',
      'model_summed as model',
      sql<bigint>`1`.as('calls'),
      sql<bigint>`case when unbilled_reason is null then 1 else 0 end`.as('billed_calls'),
      'charge_nano_usd',
      ...usageColumns,
    ])
    .where('key_id', '=', keyId)
    .where('status', '<>', 'open')
    .where('started_at_ms', '>=', BigInt(period.fromMs))
    .where('started_at_ms', '<', BigInt(period.toMs))
    .where(({ eb }) =>
      eb.or(
        cutSlots.map((slot) =>
          eb.and([eb('started_at_ms', '>=', BigInt(slot)), eb('started_at_ms', '<', BigInt(slot + slotMs))]),
        ),
      ),
    );
}

/** The sums of every summed column, as integers on every store. */
const usageSums = summedColumns.map((column) =>
  sql<bigint | null>`cast(sum(${sql.ref(column)}) as bigint)`.as(column),
);

function toTotals(row: SumRow): UsageTotals {
  return {
    calls: Number(row.calls ?? 0n),
    billedCalls: Number(row.billed_calls ?? 0n),
    usage: readUsage(usageColumns.map((column) => row[column] ?? 0n)),
    chargeNanoUsd: nanoUsd(row.charge_nano_usd ?? zeroNanoUsd),
  };
}

/** The number of the slot between two of the ascending bounds that a moment falls into. */
function bucketBetween(bounds: readonly number[]) {
  const cases = bounds
    .slice(1)
    .map((bound, index) => sql`when at_ms < ${BigInt(bound)} then ${sql.lit(index)}`);
  return sql<bigint>`case ${sql.join(cases, sql` `)} end`;
}
