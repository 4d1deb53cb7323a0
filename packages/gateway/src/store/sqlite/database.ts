import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../ports/store.ts';
import { teachArchives } from '../archive/archived-calls.ts';

/** How long one process waits for another's transaction before it gives up. */
export const busyTimeoutMs = 5_000;

/**
 * Opens a connection with the settings every connection of ours has. Integers are read as bigint: an amount beyond
 * 2⁵³ must not lose its last digits.
 */
export function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, {
    timeout: busyTimeoutMs,
    readBigInts: true,
    enableForeignKeyConstraints: true,
  });
  // FULL in WAL mode is one fsync per commit: a settled entry survives the loss of power, not only of the process.
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  // Without it REPLACE would delete a posting behind its trigger's back.
  database.exec('PRAGMA recursive_triggers = ON');
  database.exec('PRAGMA cache_size = -16000');
  // 32 MB of log: the pages that every transaction changes are then written to the file once for many of them.
  database.exec('PRAGMA wal_autocheckpoint = 8000');
  teachArchives(database, file);
  return database;
}

/** A failed statement means one of these for the ones after it. */
export type SqliteFailure =
  /** The disk or the table of open files is full, or another process holds the lock: nothing was written, and later may be better. */
  | 'later'
  /** The values themselves: only this entry is concerned. */
  | 'values'
  /** The file or its disk can no longer be trusted: after a failed fsync nobody knows what is on it. */
  | 'fatal';

/** Primary result codes, https://www.sqlite.org/rescode.html */
const failureOfCode: ReadonlyMap<number, SqliteFailure> = new Map([
  [5, 'later'], // BUSY
  [6, 'later'], // LOCKED
  [13, 'later'], // FULL
  [14, 'later'], // CANTOPEN
  [18, 'values'], // TOOBIG
  [19, 'values'], // CONSTRAINT
  [20, 'values'], // MISMATCH
]);

/**
 * Failures of the disk that took nothing: a write that was refused, as beyond the size a file may have, is in no transaction that
 * stands, and nothing was said to be on the disk.
 */
const failureOfExtendedCode: ReadonlyMap<number, SqliteFailure> = new Map([
  [778, 'later'], // IOERR_WRITE
  [4874, 'later'], // IOERR_SHMSIZE
]);

export function failureOf(error: unknown): SqliteFailure {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return 'values';
  const { errcode } = error;
  return failureOfExtendedCode.get(errcode) ?? failureOfCode.get(errcode & 0xff) ?? 'fatal';
}

/** The same error, or what it says of the store where it is not about the values of a job. */
export function asTrouble(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const isTrouble = 'errcode' in error && failureOf(error) !== 'values';
  return isTrouble ? new StoreUnavailable(error.message, { cause: error }) : error;
}

/** Runs `work` in one transaction that has the write lock from its start, and rolls back when it throws. */
export function inTransaction<Value>(database: DatabaseSync, work: () => Value): Value {
  // Inside of another one it is lost with that one, which is all that may become of it.
  if (database.isTransaction) return work();
  database.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    database.exec('COMMIT');
    return value;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
