import type { Kysely, Selectable } from 'kysely';
import { nanoUsd } from '../core/money.ts';
import type { UsageEntry, UsagePage, UsagePeriod, UsageReports, UsageTotals } from '../ports/usage-report.ts';
import { toRecord } from './ledger-records.ts';
import type { CallsTable, Schema } from './schema.ts';
import { slotMs } from './usage-slot.ts';
import { bucketBetween, selectUsage, toTotals, usageSums } from './usage-sums.ts';

const wholeTime: UsagePeriod = { fromMs: 0, toMs: slotMs * 1_000_000_000 };

/** Usage as SQL tells it, on any store. */
export class SqlUsageReports implements UsageReports {
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

  async byModel(keyId: string, period: UsagePeriod) {
    const usage = selectUsage(this.#database, keyId, period);
    const rows = await this.#database
      .selectFrom(usage.as('usage'))
      .select('model')
      .select(usageSums)
      .groupBy('model')
      .orderBy('model')
      .execute();
    return rows.map((row) => ({ model: row.model, totals: toTotals(row) }));
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
    const balance = await this.#database
      .selectFrom('balances')
      .select('balance_nano_usd')
      .where('ledger_account', '=', `account:${accountId}`)
      .executeTakeFirst();
    const account = await this.#database
      .selectFrom('accounts')
      .select('credit_limit_nano_usd')
      .where('id', '=', accountId)
      .executeTakeFirst();
    return {
      balanceNanoUsd: nanoUsd(balance?.balance_nano_usd ?? 0n),
      limited: (account?.credit_limit_nano_usd ?? null) !== null,
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

function toUsageEntry(row: Selectable<CallsTable>): UsageEntry {
  const record = toRecord(row);
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
