import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** Tells every process that looks that something has been configured. Belongs into the transaction of the change. */
export async function raiseRevision(transaction: Kysely<Schema>): Promise<void> {
  await transaction
    .updateTable('meta')
    .set((row) => ({ value: row('value', '+', 1n) }))
    .where('name', '=', 'configuration_revision')
    .execute();
}
