import { type Kysely, type RawBuilder, sql } from 'kysely';
import { nanoUsd } from '../money/money.ts';
import type { CallFilter, FollowMark, Spend, SpendDimension } from '../ports/call-reports.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { archivedBetween, type Period, withArchived } from './archive/archived-calls.ts';
import { readRecord } from './columns.ts';
import { isOfModel, modelColumn } from './model-names.ts';
import { costOfCall, slotMs, slotOf, unknownCostsOfCall } from './reports.ts';
import type { Schema } from './schema.ts';
import {
  billedCall,
  channelOfAttempt,
  costOfAttempt,
  inputTokens,
  outputTokens,
  summedTag,
} from './spend-slots.ts';

/** Trace ids begin with their time, as UUIDs of version 7 do; calls begin within this time of it. */
export const traceSlackMs = 60_000;
/** No trace id comes behind it. */
export const afterAllTraces = '~';
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
    const last = before ?? afterAllTraces;
    const where = matches(filter);
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where ${where} and trace_id < ${last} order by trace_id desc limit ${limit}`.execute(this.#database);
    const span = { order: 'desc', after: '', before: last, text: textIn(filter) } as const;
    const page = { ...span, limit, period: periodOf(filter), where };
    return (await withArchived(this.#database, page, rows)).map(readRecord);
  }

  async endingIn(digits: string, fromMs: number): Promise<readonly LedgerRecord[]> {
    const where = sql`trace_id >= ${traceAt(fromMs)} and trace_id like ${`%${digits}`}`;
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where ${where} order by trace_id limit ${endingMax}`.execute(this.#database);
    const span = { order: 'asc', after: traceAt(fromMs), before: afterAllTraces, text: digits } as const;
    const page = { ...span, limit: endingMax, period: periodOf({ fromMs }), where };
    return (await withArchived(this.#database, page, rows)).map(readRecord);
  }

  async spend(by: SpendDimension, filter: CallFilter): Promise<readonly Spend[]> {
    const { rows } =
      await sql<SpendRow>`select name, ${sumsOf} from (${await this.#spendParts(by, filter)}) as spend
      group by name ${by === 'tag' ? sql`having sum(calls) > 0` : sql``} order by ${by === 'day' ? sql`name` : sql`charge desc, cost desc, name`}`.execute(
        this.#database,
      );
    return rows.map(toSpend);
  }

  /** Sums by channel that an older version has not made are not there yet: until then calls are read. */
  async #spendParts(by: SpendDimension, filter: CallFilter): Promise<RawBuilder<unknown>> {
    if (by !== 'channel') return spendParts(by, filter);
    const due = await this.#database.selectFrom('spend_slots_due').select('key_id').executeTakeFirst();
    return due === undefined ? spendParts(by, filter) : byCall(by, filter);
  }

  async follow(filter: CallFilter, mark: FollowMark | null) {
    if (mark === null) {
      const { rows } = await sql<{ place: bigint | null }>`select max(rowid) as place from calls`.execute(
        this.#database,
      );
      const place = rows[0]?.place ?? 0n;
      return { records: [], mark: { place, open: await this.#openUpTo(place) } };
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

  /** Calls that a follower finds under way, by their index: going down the rows, a million would be read. */
  async #openUpTo(place: bigint): Promise<readonly string[]> {
    const { rows } = await sql<{ trace_id: string }>`select trace_id from calls
      where run is not null and +rowid <= ${place} order by +rowid desc limit ${openMax}`.execute(
      this.#database,
    );
    return rows.map((row) => row.trace_id).toReversed();
  }

  async #named(traceIds: readonly string[]): Promise<readonly LedgerRecord[]> {
    if (traceIds.length === 0) return [];
    const { rows } = await sql<Readonly<Record<string, unknown>>>`select * from calls
      where trace_id in (select value from json_each(${JSON.stringify(traceIds)}))`.execute(this.#database);
    return rows.map(readRecord);
  }
}

function periodOf({ fromMs, toMs = Number.MAX_SAFE_INTEGER }: CallFilter): Period {
  return { fromMs, toMs };
}

/** Every call that the filter lets through has this in its cells. */
function textIn({ keyId, tag }: CallFilter): string {
  const known = keyId ?? tag;
  return known === undefined ? '' : JSON.stringify(known);
}

function matches(filter: CallFilter, model = modelColumn(filter.model)): RawBuilder<unknown> {
  const { keyId, channelId, tag, status, fromMs, toMs, billed } = filter;
  const isSpan = keyId === undefined;
  const conditions = [
    sql`started_at_ms >= ${BigInt(fromMs)}`,
    ...(isSpan ? [sql`trace_id >= ${traceAt(fromMs - traceSlackMs)}`] : []),
    ...(toMs === undefined ? [] : [sql`started_at_ms < ${BigInt(toMs)}`]),
    ...(toMs === undefined || !isSpan ? [] : [sql`trace_id < ${traceAt(toMs + traceSlackMs)}`]),
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
    ...ofAccounts(filter),
    ...(channelId === undefined ? [] : [sql`channel_id = ${channelId}`]),
    ...(filter.model === undefined ? [] : [sql`${sql.ref(model)} = ${filter.model}`]),
    ...(tag === undefined ? [] : [sql`tag = ${tag}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(billed === undefined ? [] : [billedIs(billed)]),
  ];
  return sql.join(conditions, sql` and `);
}

function ofAccounts({ accountId, accountIds }: CallFilter): readonly RawBuilder<unknown>[] {
  return [
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(accountIds === undefined
      ? []
      : [sql`account_id in (select value from json_each(${JSON.stringify(accountIds)}))`]),
  ];
}

/** A call that has not ended is neither. */
export function billedIs(billed: boolean): RawBuilder<unknown> {
  const reason = billed ? sql`unbilled_reason is null` : sql`unbilled_reason is not null`;
  return sql`status <> 'open' and ${reason}`;
}

/** The first trace id of a moment. */
export function traceAt(timeMs: number): string {
  return Math.max(0, timeMs).toString(16).padStart(12, '0').padEnd(32, '0');
}

function isWanted(record: LedgerRecord, filter: CallFilter): boolean {
  const { accountId, accountIds, keyId, channelId, model, tag, status, billed } = filter;
  const isBilled = record.unbilledReason === null;
  return (
    record.accountId === (accountId ?? record.accountId) &&
    (accountIds?.includes(record.accountId) ?? true) &&
    record.keyId === (keyId ?? record.keyId) &&
    record.channelId === (channelId ?? record.channelId) &&
    isOfModel(record, model) &&
    record.tag === (tag ?? record.tag) &&
    record.status === (status ?? record.status) &&
    isBilled === (billed ?? isBilled)
  );
}

function byEnd(a: LedgerRecord, b: LedgerRecord): number {
  return (a.finishedAtMs ?? a.startedAtMs) - (b.finishedAtMs ?? b.startedAtMs);
}

/** A call has one of each of these. */
type CallDimension = Exclude<SpendDimension, 'channel' | 'tag'>;

function spendParts(by: SpendDimension, filter: CallFilter): RawBuilder<unknown> {
  const { fromMs, toMs = Number.MAX_SAFE_INTEGER } = filter;
  const firstMs = slotOf(fromMs + slotMs - 1);
  const lastMs = slotOf(toMs);
  if (!areSummed(by, filter) || firstMs >= lastMs) return byCall(by, filter);
  return sql.join(
    [
      bySlot(by, filter, firstMs, lastMs),
      ...(fromMs < firstMs ? [byCall(by, { ...filter, toMs: firstMs })] : []),
      ...(filter.toMs !== undefined && lastMs < toMs ? [byCall(by, { ...filter, fromMs: lastMs })] : []),
    ],
    sql` union all `,
  );
}

/** True where the sums of quarters of an hour know all that the filter asks for. */
function areSummed(by: SpendDimension, { channelId, model, tag, status, billed }: CallFilter): boolean {
  const isSpend = by === 'channel' || by === 'tag';
  return [channelId, tag, status, billed, isSpend ? model : undefined].every(
    (wanted) => wanted === undefined,
  );
}

/** Sums of whole quarters of an hour, beside which only the calls are read that the period cuts through: as quick with a million calls as with a few. */
function bySlot(
  by: SpendDimension,
  filter: CallFilter,
  firstMs: number,
  lastMs: number,
): RawBuilder<unknown> {
  const { keyId, model } = filter;
  const where = sql.join(
    [
      sql`slot_start_ms >= ${BigInt(firstMs)} and slot_start_ms < ${BigInt(lastMs)}`,
      ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
      ...ofAccounts(filter),
    ],
    sql` and `,
  );
  if (by === 'channel')
    return sql`select nullif(name, '') as name, ${spentColumns()} from spend_slots where kind = 'channel' and ${where}`;
  const ofUsage = (name: RawBuilder<unknown>) => sql`select ${name} as name, calls, billed_calls as billed,
    ${inputTokens} as input, ${outputTokens} as output, charge_nano_usd as charge, cost_nano_usd as cost, unknown_costs as unknown
    from usage_slots where ${where}`;
  if (by === 'tag') {
    // All calls less those that have a tag are those that have none.
    const tagged = sql`from spend_slots where kind = 'tag' and ${where}`;
    return sql`${ofUsage(sql`null`)} union all select null, ${spentColumns(sql`-`)} ${tagged} union all select name, ${spentColumns()} ${tagged}`;
  }
  const name = nameOf(by, { startedAt: 'slot_start_ms', model: 'model' });
  return model === undefined ? ofUsage(name) : sql`${ofUsage(name)} and model = ${model}`;
}

function spentColumns(sign = sql``): RawBuilder<unknown> {
  return sql`${sign}calls as calls, ${sign}billed_calls as billed, ${sign}input_tokens as input, ${sign}output_tokens as output,
    ${sign}charge_nano_usd as charge, ${sign}cost_nano_usd as cost, ${sign}unknown_costs as unknown`;
}

/** The columns of a table that has the calls, or sums of them. */
interface SummedTable {
  readonly startedAt: string;
  readonly model: string;
}

function nameOf(by: CallDimension, { startedAt, model }: SummedTable): RawBuilder<unknown> {
  if (by === 'day') return sql`strftime('%Y-%m-%d', ${sql.ref(startedAt)} / 1000, 'unixepoch')`;
  return sql.ref(by === 'model' ? model : `${by}_id`);
}

function byCall(by: SpendDimension, filter: CallFilter): RawBuilder<unknown> {
  const where = sql`where status <> 'open' and ${matches(filter, 'model_summed')}`;
  const tables = [sql`calls`, archivedBetween(periodOf(filter))];
  return sql.join(
    tables.map((calls) => byCallOf(by, calls, where)),
    sql` union all `,
  );
}

function byCallOf(
  by: SpendDimension,
  calls: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const ofCall = sql`1 as calls, ${billedCall} as billed, ${inputTokens} as input, ${outputTokens} as output, charge_nano_usd as charge`;
  if (by === 'channel')
    return sql`select channel_id as name, ${ofCall}, 0 as cost, 0 as unknown from ${calls} ${where}
      union all select ${channelOfAttempt}, 0, 0, 0, 0, 0, coalesce(${costOfAttempt}, 0), ${costOfAttempt} is null
      from ${calls}, json_each(calls.attempts) as attempt ${where}`;
  const name = by === 'tag' ? summedTag : nameOf(by, { startedAt: 'started_at_ms', model: 'model_summed' });
  return sql`select ${name} as name, ${ofCall}, ${costOfCall} as cost, ${unknownCostsOfCall} as unknown from ${calls} ${where}`;
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
