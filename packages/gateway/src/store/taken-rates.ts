import { type Kysely, sql } from 'kysely';
import type { TakenRate } from '../ports/key-directory.ts';
import { countedSlots, rateWindowMs } from '../ports/leases.ts';
import type { Schema } from './schema.ts';

/** The slots that count of the rates of an owner, and what processes have leased of them. */
export async function takenRates(
  database: Kysely<Schema>,
  nowMs: number,
  subject: string,
): Promise<readonly TakenRate[]> {
  const counted = Object.entries(rateWindowMs).flatMap(([kind, windowMs]) => {
    if (windowMs === null) return [];
    const { afterMs, lastMs } = countedSlots(windowMs, nowMs);
    const isOfKind = sql`(measure = ${kind} or measure like ${`${kind}/%`})`;
    return [sql`(${isOfKind} and start_ms > ${afterMs} and start_ms <= ${lastMs})`];
  });
  const { rows } = await sql<{ measure: string; used: bigint; leased: bigint }>`
    select measure, sum(used) as used, sum(leased) as leased from (
      select measure, used, 0 as leased from rate_slots
      where subject = ${subject} and (${sql.join(counted, sql` or `)})
      union all
      select measure, 0, max(outstanding, 0) from leases where subject = ${subject} and measure <> 'money') as taken
    group by measure order by measure`.execute(database);
  return rows.map(({ measure, used, leased }) => ({
    // Only exchanges have written the names.
    measure: measure as TakenRate['measure'],
    ...{ used: Number(used), leased: Number(leased) },
  }));
}
