import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreUnusable } from '../../ports/store.ts';
import { journalRoot } from './runs.ts';

const restore =
  'Put a backup of it here (docs/operating.md, "Backups") and leave the folder `journal`, from which a start takes over what the backup lacks.';
const recover = (file: string) =>
  `Without a backup, \`sqlite3 ${file} .recover | sqlite3 recovered.sqlite\` saves what can still be read.`;
const elsewhere = 'Name another directory with --data-dir, or move the file away.';

type Words = (file: string, detail: string) => string;

/** The words for primary result codes of SQLite (https://www.sqlite.org/rescode.html), for who wants to use a store. */
const problems: ReadonlyMap<number, Words> = new Map<number, Words>([
  [3, cannotBeWritten],
  [8, cannotBeWritten],
  [10, (file, detail) => `the disk under ${file} fails: ${detail}. Look at the log of the system.`],
  [11, (file, detail) => `${file} is damaged: ${detail}. ${restore} ${recover(file)}`],
  [13, (file) => `the disk of ${dirname(file)} is full. Free some space and start again; nothing is lost.`],
  [14, (file, detail) => `${file} cannot be opened: ${detail}. Look at its owner and at its disk.`],
  [26, (file) => `${file} is not a database, or its beginning was overwritten. ${elsewhere} ${restore}`],
]);

function cannotBeWritten(file: string): string {
  return `${file} cannot be written: it is read-only, or its disk is. Give it to the user that runs Headgate (chown), or mount the disk for writing.`;
}

/** The same error, in words where the store itself is its cause. */
export function storeProblem(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  const words = problems.get(error.errcode & 0xff);
  return words === undefined ? error : new StoreUnusable(words(file, error.message));
}

/** Throws when there was a store here, of which the database is missing or empty: a new one would hide that. */
export function refuseRemains(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? null;
  if (size !== null && size > 0) return;
  const remains = [journalRoot(file), `${file}-wal`].filter((path) => existsSync(path));
  if (remains.length === 0) return;
  const what = size === null ? 'is missing' : 'is empty';
  throw new StoreUnusable(
    `${file} ${what}, but there was a store: ${remains.join(' and ')} is still here. ${restore} To begin anew, move what remains away.`,
  );
}

/** Throws when what has the name of the journals is no folder, so that no run could keep one. */
export function refuseStrangeJournal(file: string): void {
  const root = journalRoot(file);
  const found = statSync(root, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return;
  throw new StoreUnusable(
    `${root} is no folder, and the journal belongs there. Move it away and start again.`,
  );
}

/** Throws when the database is another program's. */
export function refuseForeign(database: DatabaseSync, version: number, file: string): void {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const isOurs = version === 0 ? tables.length === 0 : tables.some(({ name }) => name === 'calls');
  if (!isOurs) throw new StoreUnusable(`${file} is a database of another program. ${elsewhere}`);
}

/** Throws when a newer Headgate has written the database, whose schema this one does not know. */
export function refuseNewer(version: number, known: number, file: string): void {
  if (version > known)
    throw new StoreUnusable(
      `${file} was written by a newer Headgate: its schema is ${version}, and this version knows up to ${known}. Start the newer one, or put back the backup from before the upgrade.`,
    );
}

/** Throws when a page is cut off, which SQLite would read as zeros. While there is a log, the page may be whole in that. */
export function refuseHalfPages(database: DatabaseSync, file: string): void {
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size'] ?? 1);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const { size } = statSync(file);
  if (size % pageBytes === 0 || (log?.size ?? 0) > 0) return;
  throw new StoreUnusable(`${file} is damaged: its last page is cut off. ${restore} ${recover(file)}`);
}
