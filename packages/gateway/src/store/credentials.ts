import type { Kysely } from 'kysely';
import type { StoredCredential } from '../ports/configuration-store.ts';
import { raiseRevision } from './revision.ts';
import type { Schema } from './schema.ts';

/** The changes of credentials that the store keeps. Each is one transaction and raises the revision if it changed anything. */
export class CredentialWriter {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async addCredential(
    { id, channelId, name, keyId, sealed }: Omit<StoredCredential, 'kind' | 'createdAtMs' | 'rotatedAtMs'>,
    nowMs: number,
  ): Promise<void> {
    const added = { id, channel_id: channelId, name, key_id: keyId, sealed, created_at_ms: BigInt(nowMs) };
    await this.#database.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('credentials')
        .values({ ...added, rotated_at_ms: null })
        .execute();
      await raiseRevision(transaction);
    });
  }

  rotateCredential(
    id: string,
    { keyId, sealed }: Pick<StoredCredential, 'keyId' | 'sealed'>,
    nowMs: number,
  ): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('credentials')
        .set({ key_id: keyId, sealed, rotated_at_ms: BigInt(nowMs) })
        .where('id', '=', id)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) await raiseRevision(transaction);
      return numUpdatedRows > 0n;
    });
  }

  removeCredential(id: string): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom('credentials')
        .where('id', '=', id)
        .executeTakeFirst();
      if (numDeletedRows > 0n) await raiseRevision(transaction);
      return numDeletedRows > 0n;
    });
  }
}

export async function loadCredentials(database: Kysely<Schema>): Promise<readonly StoredCredential[]> {
  const rows = await database
    .selectFrom('credentials')
    .selectAll()
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    kind: 'sealed',
    id: row.id,
    channelId: row.channel_id,
    name: row.name,
    keyId: row.key_id,
    sealed: row.sealed,
    createdAtMs: Number(row.created_at_ms),
    rotatedAtMs: row.rotated_at_ms === null ? null : Number(row.rotated_at_ms),
  }));
}
