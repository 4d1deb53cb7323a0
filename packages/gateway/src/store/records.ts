import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { EntryFilter, LedgerRecord } from '../ports/store.ts';
import { findArchived, withArchived } from './archive/archived-calls.ts';
import { afterAllTraces } from './call-reports.ts';
import { readRecord } from './columns.ts';
import { modelColumn } from './model-names.ts';
import type { Schema } from './schema.ts';

const pageSize = 500;

type Row = Readonly<Record<string, unknown>>;

/** The next entries after a trace id, oldest first, those that are archived among them; an empty page is the end. */
export async function readRecords(
  database: Kysely<Schema>,
  filter: EntryFilter,
  afterTraceId: string,
): Promise<readonly LedgerRecord[]> {
  const where = matches(filter);
  const { rows } = await sql<Row>`select * from calls where trace_id > ${afterTraceId} and ${where}
    order by trace_id limit ${pageSize}`.execute(database);
  const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, keyId } = filter;
  const page = {
    ...({ order: 'asc', limit: pageSize, after: afterTraceId, before: afterAllTraces } as const),
    ...{ where, period: { fromMs, toMs }, text: keyId === undefined ? '' : JSON.stringify(keyId) },
  };
  return (await withArchived(database, page, rows)).map(readRecord);
}

function matches(filter: EntryFilter): RawBuilder<unknown> {
  const { accountId, keyId, channelId, triedChannelId: tried, model, tag, status, fromMs, toMs } = filter;
  const equals = (column: string, value: string | undefined) =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
  const conditions = [
    ...equals('account_id', accountId),
    ...equals('key_id', keyId),
    ...equals('channel_id', channelId),
    // In an attempt's array the channel is the second of its members.
    ...(tried === undefined ? [] : [sql`instr(attempts, ${`,${JSON.stringify(tried)},`}) > 0`]),
    ...equals(modelColumn(model), model),
    ...equals('tag', tag),
    ...equals('status', status),
    ...(fromMs === undefined ? [] : [sql`started_at_ms >= ${BigInt(fromMs)}`]),
    ...(toMs === undefined ? [] : [sql`started_at_ms < ${BigInt(toMs)}`]),
  ];
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** The entry of one call, whoever made it. */
export async function findRecord(database: Kysely<Schema>, traceId: string): Promise<LedgerRecord | null> {
  const { rows } = await sql<Row>`select * from calls where trace_id = ${traceId}`.execute(database);
  const row = rows[0] ?? (await findArchived(database, traceId));
  return row === undefined ? null : readRecord(row);
}
