import type { Kysely } from 'kysely';
import type { StoredSetting } from '../ports/configuration-store.ts';
import { raiseRevision } from './revision.ts';
import type { ConsoleSettingsTable, Schema } from './schema.ts';

export async function loadConsoleSettings(database: Kysely<Schema>): Promise<readonly StoredSetting[]> {
  const rows = await database.selectFrom('console_settings').selectAll().orderBy('name').execute();
  return rows.map(storedSetting);
}

/** A row as whoever reads it knows it, be the connection one of ours or that of a start. */
export function storedSetting({
  name,
  text,
  key_id,
  sealed,
  changed_at_ms,
}: ConsoleSettingsTable): StoredSetting {
  const isSealed = key_id !== null && sealed !== null;
  return {
    name,
    text,
    sealed: isSealed ? { keyId: key_id, sealed } : null,
    changedAtMs: Number(changed_at_ms),
  };
}

export function putConsoleSettings(
  database: Kysely<Schema>,
  settings: readonly StoredSetting[],
  removed: readonly string[],
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const gone = [...settings.map(({ name }) => name), ...removed];
    if (gone.length === 0) return;
    await transaction.deleteFrom('console_settings').where('name', 'in', gone).execute();
    for (const { name, text, sealed, changedAtMs } of settings)
      await transaction
        .insertInto('console_settings')
        .values({
          ...{ name, text, key_id: sealed?.keyId ?? null, sealed: sealed?.sealed ?? null },
          changed_at_ms: BigInt(changedAtMs),
        })
        .execute();
    await raiseRevision(transaction);
  });
}
