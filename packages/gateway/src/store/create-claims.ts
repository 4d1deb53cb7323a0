import type { Kysely } from 'kysely';
import type { CreateClaim, EarlierCreate } from '../ports/create-claims.ts';
import type { Schema } from './schema.ts';

/** An answer is remembered for so long. */
const keptMs = 86_400_000;
/** A process that died while it made something has not made it by then. */
const runningMsMax = 60_000;

/** See `CreateClaims`. */
export function claimCreate(
  database: Kysely<Schema>,
  { id, request, atMs }: CreateClaim,
): Promise<EarlierCreate> {
  return database.transaction().execute(async (transaction): Promise<EarlierCreate> => {
    await transaction
      .deleteFrom('create_claims')
      .where('at_ms', '<', BigInt(atMs - keptMs))
      .execute();
    const row = await transaction
      .selectFrom('create_claims')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (row !== undefined && row.request !== request) return { kind: 'other' };
    if (row?.body != null) return { kind: 'made', body: row.body };
    if (row !== undefined && row.at_ms > atMs - runningMsMax) return { kind: 'running' };
    await transaction
      .insertInto('create_claims')
      .values({ id, request, at_ms: BigInt(atMs), body: null })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ at_ms: BigInt(atMs) }))
      .execute();
    return { kind: 'new' };
  });
}

export async function concludeCreate(
  database: Kysely<Schema>,
  { id }: CreateClaim,
  body: string | null,
): Promise<void> {
  if (body === null) await database.deleteFrom('create_claims').where('id', '=', id).execute();
  else await database.updateTable('create_claims').set({ body }).where('id', '=', id).execute();
}
