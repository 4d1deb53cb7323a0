import { type Kysely, type RawBuilder, sql } from 'kysely';
import { nanoUsd } from '../money/money.ts';
import type { CallFilter, FollowMark, Spend, SpendDimension } from '../ports/call-reports.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { attemptColumns, readRecord } from './columns.ts';
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
    const { rows } = await sql<SpendRow>`select name, ${sumsOf}
      from (${by === 'channel' ? byChannel(filter) : byCall(nameOf[by], filter)}) as spend
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

function matches(filter: CallFilter): RawBuilder<unknown> {
  const { accountId, keyId, channelId, model, status, fromMs, toMs, billed } = filter;
  const isSpan = keyId === undefined;
  const conditions = [
    sql`started_at_ms >= ${BigInt(fromMs)}`,
    ...(isSpan ? [sql`trace_id >= ${traceAt(fromMs - traceSlackMs)}`] : []),
    ...(toMs === undefined ? [] : [sql`started_at_ms < ${BigInt(toMs)}`]),
    ...(toMs === undefined || !isSpan ? [] : [sql`trace_id < ${traceAt(toMs + traceSlackMs)}`]),
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(channelId === undefined ? [] : [sql`channel_id = ${channelId}`]),
    ...(model === undefined ? [] : [sql`model_requested = ${model}`]),
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
    record.modelRequested === (model ?? record.modelRequested) &&
    record.status === (status ?? record.status) &&
    isBilled === (billed ?? isBilled)
  );
}

function byEnd(a: LedgerRecord, b: LedgerRecord): number {
  return (a.finishedAtMs ?? a.startedAtMs) - (b.finishedAtMs ?? b.startedAtMs);
}

const nameOf: Readonly<Record<Exclude<SpendDimension, 'channel'>, RawBuilder<unknown>>> = {
  key: sql`key_id`,
  group: sql`group_id`,
  account: sql`account_id`,
  model: sql`model_requested`,
  day: sql`strftime('%Y-%m-%d', started_at_ms / 1000, 'unixepoch')`,
};

const channelOfAttempt = sql.lit(attemptColumns.indexOf('channel_id'));
const costOfAttempt = sql.lit(attemptColumns.indexOf('cost_nano_usd'));
const cost = sql`cast(attempt.value ->> ${costOfAttempt} as integer)`;

const tokens = sql`input_fresh + input_cache_read + input_cache_write_5m + input_cache_write_1h + input_audio + input_image + input_cache_read_audio as input,
  output + output_audio + output_image as output`;

const billedCall = sql`case when unbilled_reason is null then 1 else 0 end as billed`;

function byCall(name: RawBuilder<unknown>, filter: CallFilter): RawBuilder<unknown> {
  return sql`select ${name} as name, 1 as calls, ${billedCall}, ${tokens}, charge_nano_usd as charge,
    (select coalesce(sum(${cost}), 0) from json_each(calls.attempts) as attempt) as cost
    from calls where status <> 'open' and ${matches(filter)}`;
}

function byChannel(filter: CallFilter): RawBuilder<unknown> {
  return sql`select channel_id as name, 1 as calls, ${billedCall}, ${tokens}, charge_nano_usd as charge, 0 as cost
    from calls where status <> 'open' and ${matches(filter)}
    union all select attempt.value ->> ${channelOfAttempt}, 0, 0, 0, 0, 0, ${cost}
    from calls, json_each(calls.attempts) as attempt where status <> 'open' and ${matches(filter)}`;
}

type SpendRow = Readonly<Record<'calls' | 'billed' | 'input' | 'output' | 'charge' | 'cost', bigint>> & {
  readonly name: string | null;
};

const sumsOf = sql.join(
  ['calls', 'billed', 'input', 'output', 'charge', 'cost'].map(
    (column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`,
  ),
);

function toSpend({ name, calls, billed, input, output, charge, cost: spent }: SpendRow): Spend {
  return {
    name,
    calls: Number(calls),
    billedCalls: Number(billed),
    inputTokens: Number(input),
    outputTokens: Number(output),
    chargeNanoUsd: nanoUsd(charge),
    costNanoUsd: nanoUsd(spent),
  };
}
