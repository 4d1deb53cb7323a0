import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** See `PeopleStore.endSession`. */
export async function endSession(database: Kysely<Schema>, personId: string, id: string): Promise<boolean> {
  const result = await database
    .deleteFrom('sessions')
    .where('person_id', '=', personId)
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** See `PeopleStore.endSessions`. */
export async function endSessions(
  database: Kysely<Schema>,
  personId: string,
  exceptId: string | null,
): Promise<number> {
  const result = await database
    .deleteFrom('sessions')
    .where('person_id', '=', personId)
    .where('id', '!=', exceptId ?? '')
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
