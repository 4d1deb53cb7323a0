import { type Kysely, sql } from 'kysely';
import { nanoUsd, zeroNanoUsd } from '../core/money.ts';
import type { UsagePeriod, UsageTotals } from '../ports/usage-report.ts';
import { decodeUsage, usageColumns } from './call-row.ts';
import type { Schema } from './schema.ts';
import { slotMs, slotOf } from './usage-slot.ts';

const summedColumns = ['calls', 'billed_calls', 'charge_nano_usd', ...usageColumns] as const;

type SumRow = Readonly<Record<(typeof summedColumns)[number], bigint | null>>;

/**
 * The usage of a key in a period: the sums per quarter of an hour where one lies whole between two of the bounds, the
 * ended calls themselves where a bound cuts through it. So ninety days cost the same whatever the traffic.
 */
export function selectUsage(
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
      'model_requested as model',
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
export const usageSums = summedColumns.map((column) =>
  sql<bigint | null>`cast(sum(${sql.ref(column)}) as bigint)`.as(column),
);

export function toTotals(row: SumRow): UsageTotals {
  return {
    calls: Number(row.calls ?? 0n),
    billedCalls: Number(row.billed_calls ?? 0n),
    usage: decodeUsage(usageColumns.map((column) => row[column] ?? 0n)),
    chargeNanoUsd: nanoUsd(row.charge_nano_usd ?? zeroNanoUsd),
  };
}

/** The number of the slot between two of the ascending bounds that a moment falls into. */
export function bucketBetween(bounds: readonly number[]) {
  const cases = bounds
    .slice(1)
    .map((bound, index) => sql`when at_ms < ${BigInt(bound)} then ${sql.lit(index)}`);
  return sql<bigint>`case ${sql.join(cases, sql` `)} end`;
}
