import { type Kysely, type RawBuilder, sql } from 'kysely';
import { nanoUsd, zeroNanoUsd } from '../money/money.ts';
import type { ModelPage, SisterKey, UsagePeriod, UsageTotals } from '../ports/usage-report.ts';
import { archivedBetween } from './archive/archived-calls.ts';
import { attemptColumns, readUsage, usageColumns } from './columns.ts';
import type { Schema } from './schema.ts';

/**
 * Usage is summed by quarter of an hour in UTC: every offset of a time zone in use is a multiple of it, so a day
 * of any of them is a whole number of slots.
 */
export const slotMs = 15 * 60_000;

/** Longer spans that usage is summed by, in UTC as well, so that long periods are read as quickly as short ones (ADR 41). */
export const spanMs = { hour: 3_600_000, day: 86_400_000 } as const;

/** Start of the slot that holds this moment. */
export function slotOf(timeMs: number): number {
  return startOf(timeMs, slotMs);
}

/** Start of the span of this length that holds the moment. */
export function startOf(timeMs: number, lengthMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs;
}

/** The cost of all attempts of a row of `calls`. */
export const costOfCall = sql<bigint>`(select coalesce(sum(cast(attempt.value ->> ${sql.lit(attemptColumns.indexOf('cost_nano_usd'))} as integer)), 0)
  from json_each(calls.attempts) as attempt)`;

/** The attempts of a row of `calls` whose cost nobody knows. */
export const unknownCostsOfCall = sql<bigint>`(select count(*) from json_each(calls.attempts) as attempt
  where attempt.value ->> ${sql.lit(attemptColumns.indexOf('cost_nano_usd'))} is null)`;

/** Keys that are named when several have one name. */
const sistersMax = 5;

/** Usage as SQL tells it, on any store. */
export class SqlUsageReports {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async totals(keyId: string, period: UsagePeriod | null): Promise<UsageTotals> {
    const usage = period === null ? await this.#inAll(keyId) : await this.#usage(keyId, 'hour', ends(period));
    const { rows } = await sql<SumRow>`select ${sums} from (${usage}) as usage`.execute(this.#database);
    return toTotals(rows[0] ?? {});
  }

  async series(keyId: string, bounds: readonly number[]) {
    if (bounds.length < 2) return [];
    const usage = await this.#usage(keyId, 'hour', bounds);
    const { rows } = await sql<SumRow & { readonly bucket: bigint }>`
      select ${bucketBetween(bounds)} as bucket, ${sums} from (${usage}) as usage group by bucket order by bucket`.execute(
      this.#database,
    );
    return rows.map((row) => ({ fromMs: bounds[Number(row.bucket)] ?? 0, totals: toTotals(row) }));
  }

  async byModel(
    keyId: string,
    period: UsagePeriod,
    limit: number,
    cursor: string | null,
  ): Promise<ModelPage> {
    const usage = await this.#usage(keyId, 'day', ends(period));
    const { rows } = await sql<SumRow & { readonly model: string }>`
      select model, ${sums} from (${usage}) as usage where model > ${cursor ?? ''}
      group by model order by model limit ${limit + 1}`.execute(this.#database);
    const models = rows.slice(0, limit).map((row) => ({ model: row.model, totals: toTotals(row) }));
    return { models, nextCursor: rows.length > limit ? (models.at(-1)?.model ?? null) : null };
  }

  async sisters(accountId: string, label: string): Promise<readonly SisterKey[] | null> {
    const account = await this.#database
      .selectFrom('accounts')
      .select('show_keys')
      .where('id', '=', accountId)
      .executeTakeFirst();
    if (account?.show_keys !== 1n) return null;
    return this.#database
      .selectFrom('keys')
      .select(['id', 'name'])
      .where('account_id', '=', accountId)
      .where(({ eb }) => eb.or([eb('id', '=', label), eb('name', '=', label)]))
      .orderBy('id')
      .limit(sistersMax)
      .execute();
  }

  async balance(accountId: string) {
    const account = await this.#database
      .selectFrom('accounts')
      .select('show_balance')
      .where('id', '=', accountId)
      .executeTakeFirst();
    const balance = await this.#database
      .selectFrom('balances')
      .select('balance_nano_usd')
      .where('ledger_account', '=', `account:${accountId}`)
      .executeTakeFirst();
    return {
      balanceNanoUsd: nanoUsd(balance?.balance_nano_usd ?? 0n),
      isShown: account?.show_balance === 1n,
    };
  }

  /**
   * The usage of a key between the first and the last of the bounds: sums of whole spans of this length, sums of quarters of an hour where
   * a bound cuts through one, and ended calls where it cuts through a quarter. So ninety days cost the same whatever the traffic.
   */
  async #usage(
    keyId: string,
    span: keyof typeof spanMs,
    bounds: readonly number[],
  ): Promise<RawBuilder<unknown>> {
    const period = { fromMs: bounds[0] ?? 0, toMs: bounds.at(-1) ?? 0 };
    const cutSlots = cutBy(bounds, slotMs);
    const calls = ofCalls(keyId, edgesOf(cutSlots, slotMs, period));
    if (await this.#isDue(keyId)) return sql`${ofSlots(keyId, [period], cutSlots)} union all ${calls}`;
    const cutSpans = cutBy(bounds, spanMs[span]);
    const spans = ofSpans(keyId, span, period, cutSpans);
    const slots = ofSlots(keyId, edgesOf(cutSpans, spanMs[span], period), cutSlots);
    return sql`${spans} union all ${slots} union all ${calls}`;
  }

  async #inAll(keyId: string): Promise<RawBuilder<unknown>> {
    if (await this.#isDue(keyId)) return sql`select ${summed} from usage_slots where key_id = ${keyId}`;
    return sql`select ${summed} from usage_spans where key_id = ${keyId} and span = 'total'`;
  }

  /** True while the longer sums of a key are still to be made, behind a change of version. */
  async #isDue(keyId: string): Promise<boolean> {
    const due = this.#database.selectFrom('usage_spans_due').select('key_id').where('key_id', '=', keyId);
    return (await due.executeTakeFirst()) !== undefined;
  }
}

const summedColumns = ['calls', 'billed_calls', 'charge_nano_usd', ...usageColumns] as const;

type SumRow = Readonly<Partial<Record<(typeof summedColumns)[number], bigint | null>>>;

const summed = sql.join(summedColumns.map((column) => sql.ref(column)));

/** The sums of every summed column, as integers on every store. */
const sums = sql.join(
  summedColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`),
);

/** The starts of the spans of this length that one of the bounds lies within. */
function cutBy(bounds: readonly number[], lengthMs: number): readonly number[] {
  return [
    ...new Set(bounds.filter((bound) => bound % lengthMs !== 0).map((bound) => startOf(bound, lengthMs))),
  ];
}

/** The spans that begin there, as far as they lie in the period. */
function edgesOf(starts: readonly number[], lengthMs: number, period: UsagePeriod): readonly UsagePeriod[] {
  return starts.map((startMs) => ({
    fromMs: Math.max(startMs, period.fromMs),
    toMs: Math.min(startMs + lengthMs, period.toMs),
  }));
}

function ofSpans(
  keyId: string,
  span: keyof typeof spanMs,
  { fromMs, toMs }: UsagePeriod,
  cut: readonly number[],
): RawBuilder<unknown> {
  return sql`select start_ms as at_ms, model, ${summed} from usage_spans
    where key_id = ${keyId} and span = ${span} and start_ms >= ${BigInt(fromMs)} and start_ms < ${BigInt(toMs)}
      and start_ms not in ${listOf(cut)}`;
}

function ofSlots(
  keyId: string,
  periods: readonly UsagePeriod[],
  cut: readonly number[],
): RawBuilder<unknown> {
  return sql`select slot_start_ms as at_ms, model, ${summed} from ${tableOf(periods)} cross join usage_slots
    where key_id = ${keyId} and slot_start_ms >= from_ms and slot_start_ms < to_ms
      and slot_start_ms not in ${listOf(cut)}`;
}

function ofCalls(keyId: string, periods: readonly UsagePeriod[]): RawBuilder<unknown> {
  const columns = summedColumns.slice(2).map((column) => sql.ref(column));
  const ofTable = (
    calls: RawBuilder<unknown>,
  ) => sql`select started_at_ms as at_ms, model_summed as model, 1 as calls,
      case when unbilled_reason is null then 1 else 0 end as billed_calls, ${sql.join(columns)}
    from ${tableOf(periods)} cross join ${calls}
    where key_id = ${keyId} and status <> 'open' and started_at_ms >= from_ms and started_at_ms < to_ms`;
  // No zone in use cuts through a quarter of an hour.
  if (periods.length === 0) return ofTable(sql`calls`);
  return sql`${ofTable(sql`calls`)} union all ${ofTable(archivedBetween(...periods))}`;
}

function listOf(numbers: readonly number[]): RawBuilder<unknown> {
  return sql`(select value from json_each(${JSON.stringify(numbers)}))`;
}

function tableOf(periods: readonly UsagePeriod[]): RawBuilder<unknown> {
  const pairs = JSON.stringify(periods.map(({ fromMs, toMs }) => [fromMs, toMs]));
  return sql`(select value ->> 0 as from_ms, value ->> 1 as to_ms from json_each(${pairs})) as periods`;
}

function toTotals(row: SumRow): UsageTotals {
  return {
    calls: Number(row.calls ?? 0n),
    billedCalls: Number(row.billed_calls ?? 0n),
    usage: readUsage(usageColumns.map((column) => row[column] ?? 0n)),
    chargeNanoUsd: nanoUsd(row.charge_nano_usd ?? zeroNanoUsd),
  };
}

function ends({ fromMs, toMs }: UsagePeriod): readonly number[] {
  return [fromMs, toMs];
}

/** The number of the slot between two of the ascending bounds that a moment falls into. */
function bucketBetween(bounds: readonly number[]) {
  const cases = bounds
    .slice(1)
    .map((bound, index) => sql`when at_ms < ${BigInt(bound)} then ${sql.lit(index)}`);
  return sql<bigint>`case ${sql.join(cases, sql` `)} end`;
}
