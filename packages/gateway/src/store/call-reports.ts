import { type Kysely, type RawBuilder, sql } from 'kysely';
import { nanoUsd } from '../money/money.ts';
import type { CallFilter, FollowMark, Spend, SpendDimension } from '../ports/call-reports.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { attemptColumns, readRecord } from './columns.ts';
import { isOfModel, modelColumn } from './model-names.ts';
import { costOfCall, slotMs, slotOf, unknownCostsOfCall } from './reports.ts';
import type { Schema } from './schema.ts';

/** Trace ids begin with their time, as UUIDs of version 7 do; calls begin within this time of it. */
const traceSlackMs = 60_000;
/** Calls that are named when several end alike. */
const endingMax = 5;
/** A page of a follower: more calls than end in the time between two looks are read with the next. */
const followMax = 500;
/** Open calls that a follower waits for; beyond it the oldest are forgotten. */
const openMax = 5000;

/** The calls of everybody, as SQL tells them. Each question reads a span of trace ids, or of one key's calls, and no more. */
export class SqlCallReports {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async list(filter: CallFilter, limit: number, before: string | null): Promise<readonly LedgerRecord[]> {
    const after = before === null ? sql`` : sql`and trace_id < ${before}`;
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where ${matches(filter)} ${after} order by trace_id desc limit ${limit}`.execute(this.#database);
    return rows.map(readRecord);
  }

  async endingIn(digits: string, fromMs: number): Promise<readonly LedgerRecord[]> {
    const { rows } = await sql<{ trace_id: string }>`select trace_id from calls
      where trace_id >= ${traceAt(fromMs)} and trace_id like ${`%${digits}`} limit ${endingMax}`.execute(
      this.#database,
    );
    return this.#named(rows.map((row) => row.trace_id));
  }

  async spend(by: SpendDimension, filter: CallFilter): Promise<readonly Spend[]> {
    const parts =
      by === 'channel' ? byChannel(filter) : areSummed(filter) ? bySlot(by, filter) : byCall(by, filter);
    const { rows } = await sql<SpendRow>`select name, ${sumsOf} from (${parts}) as spend
      group by name order by ${by === 'day' ? sql`name` : sql`charge desc, cost desc, name`}`.execute(
      this.#database,
    );
    return rows.map(toSpend);
  }

  async follow(filter: CallFilter, mark: FollowMark | null) {
    if (mark === null) {
      const { rows } = await sql<{ place: bigint | null }>`select max(rowid) as place from calls`.execute(
        this.#database,
      );
      return { records: [], mark: { place: rows[0]?.place ?? 0n, open: [] } };
    }
    const { rows } = await sql<Readonly<Record<string, unknown>> & { place: bigint }>`
      select rowid as place, * from calls where rowid > ${mark.place} order by rowid limit ${followMax}`.execute(
      this.#database,
    );
    const found = [...(await this.#named(mark.open)), ...rows.map(readRecord)];
    const ended = found.filter(({ status }) => status !== 'open');
    const open = found.filter(({ status }) => status === 'open').map(({ traceId }) => traceId);
    return {
      records: ended.filter((record) => isWanted(record, filter)).sort(byEnd),
      mark: { place: rows.at(-1)?.place ?? mark.place, open: open.slice(-openMax) },
    };
  }

  async #named(traceIds: readonly string[]): Promise<readonly LedgerRecord[]> {
    if (traceIds.length === 0) return [];
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where trace_id in (select value from json_each(${JSON.stringify(traceIds)}))`.execute(this.#database);
    return rows.map(readRecord);
  }
}

function matches(filter: CallFilter, model = modelColumn(filter.model)): RawBuilder<unknown> {
  const { accountId, keyId, channelId, status, fromMs, toMs, billed } = filter;
  const isSpan = keyId === undefined;
  const conditions = [
    sql`started_at_ms >= ${BigInt(fromMs)}`,
    ...(isSpan ? [sql`trace_id >= ${traceAt(fromMs - traceSlackMs)}`] : []),
    ...(toMs === undefined ? [] : [sql`started_at_ms < ${BigInt(toMs)}`]),
    ...(toMs === undefined || !isSpan ? [] : [sql`trace_id < ${traceAt(toMs + traceSlackMs)}`]),
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(channelId === undefined ? [] : [sql`channel_id = ${channelId}`]),
    ...(filter.model === undefined ? [] : [sql`${sql.ref(model)} = ${filter.model}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(billed === undefined ? [] : [billedIs(billed)]),
  ];
  return sql.join(conditions, sql` and `);
}

/** A call that has not ended is neither. */
function billedIs(billed: boolean): RawBuilder<unknown> {
  const reason = billed ? sql`unbilled_reason is null` : sql`unbilled_reason is not null`;
  return sql`status <> 'open' and ${reason}`;
}

/** The first trace id of a moment. */
function traceAt(timeMs: number): string {
  return Math.max(0, timeMs).toString(16).padStart(12, '0').padEnd(32, '0');
}

function isWanted(record: LedgerRecord, filter: CallFilter): boolean {
  const { accountId, keyId, channelId, model, status, billed } = filter;
  const isBilled = record.unbilledReason === null;
  return (
    record.accountId === (accountId ?? record.accountId) &&
    record.keyId === (keyId ?? record.keyId) &&
    record.channelId === (channelId ?? record.channelId) &&
    isOfModel(record, model) &&
    record.status === (status ?? record.status) &&
    isBilled === (billed ?? isBilled)
  );
}

function byEnd(a: LedgerRecord, b: LedgerRecord): number {
  return (a.finishedAtMs ?? a.startedAtMs) - (b.finishedAtMs ?? b.startedAtMs);
}

/** A call has one of each of these. */
type CallDimension = Exclude<SpendDimension, 'channel'>;

/** The columns of a table that has the calls, or sums of them. */
interface SummedTable {
  readonly startedAt: string;
  readonly model: string;
}

const ofCalls: SummedTable = { startedAt: 'started_at_ms', model: 'model_summed' };
const ofSlots: SummedTable = { startedAt: 'slot_start_ms', model: 'model' };

function nameOf(by: CallDimension, { startedAt, model }: SummedTable): RawBuilder<unknown> {
  if (by === 'day') return sql`strftime('%Y-%m-%d', ${sql.ref(startedAt)} / 1000, 'unixepoch')`;
  return sql.ref(by === 'model' ? model : `${by}_id`);
}

const channelOfAttempt = sql.lit(attemptColumns.indexOf('channel_id'));
const costOfAttempt = sql.lit(attemptColumns.indexOf('cost_nano_usd'));
const cost = sql`cast(attempt.value ->> ${costOfAttempt} as integer)`;

const tokens = sql`input_fresh + input_cache_read + input_cache_write_5m + input_cache_write_1h + input_audio + input_image + input_cache_read_audio as input,
  output + output_audio + output_image as output`;

const billedCall = sql`case when unbilled_reason is null then 1 else 0 end as billed`;

/** True where the sums of quarters of an hour know all that the filter asks for. */
function areSummed({ channelId, status, billed }: CallFilter): boolean {
  return channelId === undefined && status === undefined && billed === undefined;
}

/** Sums of whole quarters of an hour, and the calls of those that the period cuts through: as quick with a million calls as with a few. */
function bySlot(by: CallDimension, filter: CallFilter): RawBuilder<unknown> {
  const { accountId, keyId, model, fromMs, toMs = Number.MAX_SAFE_INTEGER } = filter;
  const firstMs = slotOf(fromMs + slotMs - 1);
  const lastMs = slotOf(toMs);
  if (firstMs >= lastMs) return byCall(by, filter);
  const conditions = [
    sql`slot_start_ms >= ${BigInt(firstMs)} and slot_start_ms < ${BigInt(lastMs)}`,
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(model === undefined ? [] : [sql`model = ${model}`]),
  ];
  const whole = sql`select ${nameOf(by, ofSlots)} as name, calls, billed_calls as billed, ${tokens},
    charge_nano_usd as charge, cost_nano_usd as cost, unknown_costs as unknown from usage_slots where ${sql.join(conditions, sql` and `)}`;
  const cut = [
    ...(fromMs < firstMs ? [byCall(by, { ...filter, toMs: firstMs })] : []),
    ...(filter.toMs !== undefined && lastMs < toMs ? [byCall(by, { ...filter, fromMs: lastMs })] : []),
  ];
  return sql.join([whole, ...cut], sql` union all `);
}

function byCall(by: CallDimension, filter: CallFilter): RawBuilder<unknown> {
  return sql`select ${nameOf(by, ofCalls)} as name, 1 as calls, ${billedCall}, ${tokens}, charge_nano_usd as charge,
    ${costOfCall} as cost, ${unknownCostsOfCall} as unknown from calls where status <> 'open' and ${matches(filter, 'model_summed')}`;
}

function byChannel(filter: CallFilter): RawBuilder<unknown> {
  return sql`select channel_id as name, 1 as calls, ${billedCall}, ${tokens}, charge_nano_usd as charge, 0 as cost, 0 as unknown
    from calls where status <> 'open' and ${matches(filter, 'model_summed')}
    union all select attempt.value ->> ${channelOfAttempt}, 0, 0, 0, 0, 0, coalesce(${cost}, 0), ${cost} is null
    from calls, json_each(calls.attempts) as attempt where status <> 'open' and ${matches(filter, 'model_summed')}`;
}

type SpendRow = Readonly<
  Record<'calls' | 'billed' | 'input' | 'output' | 'charge' | 'cost' | 'unknown', bigint>
> & {
  readonly name: string | null;
};

const sumsOf = sql.join(
  ['calls', 'billed', 'input', 'output', 'charge', 'cost', 'unknown'].map(
    (column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`,
  ),
);

function toSpend({ name, calls, billed, input, output, charge, cost: spent, unknown }: SpendRow): Spend {
  return {
    name,
    calls: Number(calls),
    billedCalls: Number(billed),
    inputTokens: Number(input),
    outputTokens: Number(output),
    chargeNanoUsd: nanoUsd(charge),
    costNanoUsd: nanoUsd(spent),
    unknownCosts: Number(unknown),
  };
}
