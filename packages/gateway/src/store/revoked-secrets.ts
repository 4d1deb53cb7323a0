import { type Kysely, sql } from 'kysely';
import type { DeclaredKey } from '../catalogue/entities.ts';
import type { Schema } from './schema.ts';

/** Revoking is about the secret: whatever becomes of the row, the secret stays dead under any id. */
export async function noteRevoked(transaction: Kysely<Schema>, id: string): Promise<void> {
  await sql`insert or ignore into revoked_secrets (hash) select hash from keys where id = ${id}`.execute(
    transaction,
  );
}

/** The ids of keys that would bring a revoked secret back. A row that is revoked itself may keep it. */
export async function revivedKeys(
  transaction: Kysely<Schema>,
  keys: readonly DeclaredKey[],
): Promise<ReadonlySet<string>> {
  const rows = await transaction.selectFrom('revoked_secrets').select('hash').execute();
  const dead = new Set(rows.map(({ hash }) => hash));
  const suspects = keys.filter(({ hash, olderHashes = [] }) =>
    [hash, ...olderHashes].some((each) => dead.has(each)),
  );
  if (suspects.length === 0) return new Set();
  const revoked = await transaction
    .selectFrom('keys')
    .select('id')
    .where('status', '=', 'revoked')
    .where('removed', '=', 0n)
    .execute();
  const keeping = new Set(revoked.map(({ id }) => id));
  return new Set(suspects.flatMap(({ id }) => (keeping.has(id) ? [] : [id])));
}
