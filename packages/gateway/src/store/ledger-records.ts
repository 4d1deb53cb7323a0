import type { Kysely, Selectable } from 'kysely';
import { nanoUsd } from '../core/money.ts';
import type { EntryFilter, LedgerRecord } from '../ports/store.ts';
import { decodeAttempts, decodeKind, decodeUsage, usageColumns } from './call-row.ts';
import { decodeNames } from './configuration-row.ts';
import type { CallsTable, Schema } from './schema.ts';

const pageSize = 500;

/** The next entries after a trace id, oldest first; an empty page is the end. */
export async function readRecords(
  database: Kysely<Schema>,
  filter: EntryFilter,
  afterTraceId: string,
): Promise<readonly LedgerRecord[]> {
  const { accountId, keyId, channelId, model, status, fromMs, toMs } = filter;
  const rows = await database
    .selectFrom('calls')
    .selectAll()
    .where('trace_id', '>', afterTraceId)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
    .$if(channelId !== undefined, (query) => query.where('channel_id', '=', channelId ?? ''))
    .$if(model !== undefined, (query) => query.where('model_requested', '=', model ?? ''))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'open'))
    .$if(fromMs !== undefined, (query) => query.where('started_at_ms', '>=', BigInt(fromMs ?? 0)))
    .$if(toMs !== undefined, (query) => query.where('started_at_ms', '<', BigInt(toMs ?? 0)))
    .orderBy('trace_id')
    .limit(pageSize)
    .execute();
  return rows.map(toRecord);
}

/** Of one call, whoever made it. */
export async function readRecord(database: Kysely<Schema>, traceId: string): Promise<LedgerRecord | null> {
  const row = await database
    .selectFrom('calls')
    .selectAll()
    .where('trace_id', '=', traceId)
    .executeTakeFirst();
  return row === undefined ? null : toRecord(row);
}

export function toRecord(row: Selectable<CallsTable>): LedgerRecord {
  return {
    traceId: row.trace_id,
    accountId: row.account_id,
    keyId: row.key_id,
    groupId: row.group_id,
    surface: row.surface,
    modelRequested: row.model_requested,
    stream: row.stream === 1n,
    startedAtMs: Number(row.started_at_ms),
    priceVersion: row.price_version,
    multiplierPpm: row.multiplier_ppm,
    clientRequestId: row.client_request_id,
    parentTrace: row.parent_trace,
    userAgent: row.user_agent,
    status: row.status,
    unbilledReason: row.unbilled_reason,
    channelId: row.channel_id,
    modelServed: row.model_served,
    usage: decodeUsage(usageColumns.map((column) => row[column])),
    usageSource: row.usage_source,
    imageKind: decodeKind(row.image_kind),
    chargeNanoUsd: nanoUsd(row.charge_nano_usd),
    finishReason: row.finish_reason,
    finishReasonRaw: row.finish_reason_raw,
    httpStatus: row.http_status === null ? null : Number(row.http_status),
    errorCode: row.error_code,
    losses: row.losses === null ? [] : decodeNames(row.losses),
    ttftMs: row.ttft_ms,
    durationMs: row.duration_ms,
    overheadUs: Number(row.overhead_us),
    finishedAtMs: row.finished_at_ms === null ? null : Number(row.finished_at_ms),
    attempts: decodeAttempts(row.attempts),
    route: row.route,
  };
}
