import type { Kysely } from 'kysely';
import type { RouterState } from '../ports/store.ts';
import type { Schema } from './schema.ts';

/** Kept at most, the newest; some more than a router keeps in memory for all its targets at once. */
const rowsMax = 50_000;
/** One statement takes so many values. */
const rowsPerStatement = 1000;

export async function loadRouterStates(database: Kysely<Schema>): Promise<readonly RouterState[]> {
  const rows = await database
    .selectFrom('router_states')
    .selectAll()
    .orderBy('saved_at_ms', 'desc')
    .limit(rowsMax)
    .execute();
  return rows.map(({ saved_at_ms, ...row }) => ({ ...row, savedAtMs: Number(saved_at_ms) }));
}

/** See `RouterStateStore`. */
export function saveRouterStates(
  database: Kysely<Schema>,
  states: readonly RouterState[],
  forgetBeforeMs: number,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    for (let from = 0; from < states.length; from += rowsPerStatement)
      await upsert(transaction, states.slice(from, from + rowsPerStatement));
    await forget(transaction, forgetBeforeMs);
  });
}

async function upsert(transaction: Kysely<Schema>, states: readonly RouterState[]): Promise<void> {
  await transaction
    .insertInto('router_states')
    .values(
      states.map(({ kind, key, savedAtMs, text }) => ({ kind, key, saved_at_ms: BigInt(savedAtMs), text })),
    )
    .onConflict((conflict) =>
      conflict.columns(['kind', 'key']).doUpdateSet((row) => ({
        saved_at_ms: row.ref('excluded.saved_at_ms'),
        text: row.ref('excluded.text'),
      })),
    )
    .execute();
}

/** A row whose target is gone is saved no more, and grows old. */
async function forget(transaction: Kysely<Schema>, beforeMs: number): Promise<void> {
  await transaction.deleteFrom('router_states').where('saved_at_ms', '<', BigInt(beforeMs)).execute();
  await transaction
    .deleteFrom('router_states')
    .where('saved_at_ms', '<', (rows) =>
      rows
        .selectFrom('router_states')
        .select('saved_at_ms')
        .orderBy('saved_at_ms', 'desc')
        .limit(1)
        .offset(rowsMax),
    )
    .execute();
}
