import { type Kysely, sql } from 'kysely';
import type { EntryFilter, LedgerRecord } from '../ports/store.ts';
import { readRecord } from './columns.ts';
import { modelColumn } from './model-names.ts';
import type { Schema } from './schema.ts';

const pageSize = 500;

/** The next entries after a trace id, oldest first; an empty page is the end. */
export async function readRecords(
  database: Kysely<Schema>,
  filter: EntryFilter,
  afterTraceId: string,
): Promise<readonly LedgerRecord[]> {
  const { accountId, keyId, channelId, triedChannelId: tried, model, tag, status, fromMs, toMs } = filter;
  const rows = await database
    .selectFrom('calls')
    .selectAll()
    .where('trace_id', '>', afterTraceId)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
    .$if(channelId !== undefined, (query) => query.where('channel_id', '=', channelId ?? ''))
    // In an attempt's array the channel is the second of its members.
    .$if(tried !== undefined, (query) =>
      query.where(sql<boolean>`instr(attempts, ${`,${JSON.stringify(tried)},`}) > 0`),
    )
    .$if(model !== undefined, (query) => query.where(modelColumn(model), '=', model ?? ''))
    .$if(tag !== undefined, (query) => query.where('tag', '=', tag ?? ''))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'open'))
    .$if(fromMs !== undefined, (query) => query.where('started_at_ms', '>=', BigInt(fromMs ?? 0)))
    .$if(toMs !== undefined, (query) => query.where('started_at_ms', '<', BigInt(toMs ?? 0)))
    .orderBy('trace_id')
    .limit(pageSize)
    .execute();
  return rows.map(readRecord);
}

/** The entry of one call, whoever made it. */
export async function findRecord(database: Kysely<Schema>, traceId: string): Promise<LedgerRecord | null> {
  const row = await database
    .selectFrom('calls')
    .selectAll()
    .where('trace_id', '=', traceId)
    .executeTakeFirst();
  return row === undefined ? null : readRecord(row);
}
