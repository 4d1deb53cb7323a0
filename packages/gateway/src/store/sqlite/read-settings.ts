import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { StoredSetting } from '../../ports/configuration-store.ts';
import { storedSetting } from '../console-settings.ts';
import type { ConsoleSettingsTable } from '../schema.ts';
import { busyTimeoutMs } from './database.ts';
import { refuseRemains, refuseStrangeJournal } from './store-problem.ts';

/**
 * The settings of a store that nobody has opened yet: a start needs them before it knows how to open it. A store that is not there, is
 * older than its settings or cannot be read has none: what is wrong with it is said by whoever opens it.
 */
export function readStoredSettings(file: string): readonly StoredSetting[] {
  if (!existsSync(file)) return [];
  try {
    refuseStrangeJournal(file);
    refuseRemains(file);
    // Not read-only: behind a crash the log has to be looked through, which a reader may not.
    const database = new DatabaseSync(file, { timeout: busyTimeoutMs, readBigInts: true });
    try {
      const rows = database.prepare('SELECT * FROM console_settings ORDER BY name').all();
      // The store is the only writer of this table.
      return rows.map((row) => storedSetting(row as unknown as ConsoleSettingsTable));
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}
