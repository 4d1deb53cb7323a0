import type { Kysely } from 'kysely';
import type { NewSigningSecret, StoredSigningSecret } from '../ports/configuration-store.ts';
import type { Schema } from './schema.ts';

/** A message is signed by each of them, which makes it longer: no receiver is four rotations behind. */
const signingMax = 4;

/** Keeps a secret as the one in force; those before it go on until their times, and this far at the most. */
export async function keepSigningSecret(
  transaction: Kysely<Schema>,
  { id, webhook, keyId, sealed }: NewSigningSecret,
  retiresAtMs: number,
  nowMs: number,
): Promise<void> {
  await transaction
    .updateTable('signing_secrets')
    .set({ retires_at_ms: BigInt(retiresAtMs) })
    .where('webhook', '=', webhook)
    .where((row) =>
      row.or([row('retires_at_ms', 'is', null), row('retires_at_ms', '>', BigInt(retiresAtMs))]),
    )
    .execute();
  const older = transaction
    .selectFrom('signing_secrets')
    .select('id')
    .where('webhook', '=', webhook)
    .where('retires_at_ms', '>', BigInt(nowMs))
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .limit(signingMax - 1);
  const kept = (await older.execute()).map((row) => row.id);
  await transaction
    .deleteFrom('signing_secrets')
    .where('webhook', '=', webhook)
    .$if(kept.length > 0, (query) => query.where('id', 'not in', kept))
    .execute();
  await transaction
    .insertInto('signing_secrets')
    .values({ id, webhook, key_id: keyId, sealed, created_at_ms: BigInt(nowMs), retires_at_ms: null })
    .execute();
}

export async function dropSigningSecrets(transaction: Kysely<Schema>, webhook: string): Promise<void> {
  await transaction.deleteFrom('signing_secrets').where('webhook', '=', webhook).execute();
}

/** All of them, the newest of each webhook first. */
export async function loadSigningSecrets(database: Kysely<Schema>): Promise<readonly StoredSigningSecret[]> {
  const rows = await database
    .selectFrom('signing_secrets')
    .selectAll()
    .orderBy('webhook')
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    ...{ kind: 'signing', id: row.id, webhook: row.webhook, keyId: row.key_id, sealed: row.sealed },
    createdAtMs: Number(row.created_at_ms),
    retiresAtMs: row.retires_at_ms === null ? null : Number(row.retires_at_ms),
  }));
}
