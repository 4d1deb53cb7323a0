import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './database.ts';

/**
 * A run is a process that keeps a journal. It lives as long as it holds the exclusive lock of a file of its own: the system lets go
 * of the lock however the process ends, `kill -9` included, and neither a paused process nor a process id used again can
 * be mistaken.
 */
export interface Run {
  readonly id: bigint;
  readonly directory: string;
  readonly lock: DatabaseSync;
}

/** A run as the store knows it. */
export interface KnownRun {
  readonly id: bigint;
  /** The place up to which its journal is fed; null when it has none, being of an older Headgate or ended in order, or none that is known of. */
  readonly fed: number | null;
  /** When all of its journal was fed, the last time. */
  readonly fedAtMs: number;
}

/** The folder of all journals that belong to a database. */
export function journalRoot(file: string): string {
  return join(dirname(file), 'journal');
}

export function journalDirectory(file: string, id: bigint): string {
  return join(journalRoot(file), String(id));
}

/** Makes this process a run. Its row, its lock and its folder are there, in this order, before anything is written. */
export function beginRun(database: DatabaseSync, file: string, nowMs: number): Run {
  mkdirSync(journalRoot(file), { recursive: true, mode: 0o700 });
  for (;;) {
    const held = inTransaction(database, () => {
      const insert = database.prepare('INSERT INTO runs (started_at_ms, fed, fed_at_ms) VALUES (?, 0, ?)');
      const id = BigInt(insert.run(nowMs, nowMs).lastInsertRowid);
      // Held before others can see the row, so that no one takes this run for dead.
      return { id, lock: acquireRun(file, id) };
    });
    if (held.lock === null) throw new Error('a fresh run cannot take its own lock');
    if (makeFolder(journalDirectory(file, held.id)))
      return { id: held.id, lock: held.lock, directory: journalDirectory(file, held.id) };
    // A store that was put back from a backup counts on from there, and finds journals of runs it has never heard of.
    held.lock.close();
  }
}

function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Every run there is a row or a folder of. */
export function knownRuns(database: DatabaseSync, file: string): readonly KnownRun[] {
  const rows = database.prepare('SELECT id, fed, fed_at_ms FROM runs').all();
  const runs = new Map<bigint, KnownRun>();
  for (const { id, fed, fed_at_ms: fedAtMs } of rows) {
    const run = {
      id: BigInt(Number(id)),
      fed: fed === null ? null : Number(fed),
      fedAtMs: Number(fedAtMs ?? 0),
    };
    runs.set(run.id, run);
  }
  for (const folder of foldersOf(journalRoot(file))) {
    const id = BigInt(folder);
    if (!runs.has(id)) runs.set(id, { id, fed: null, fedAtMs: 0 });
  }
  return [...runs.values()];
}

/** The place up to which a run's journal is fed; null when the store knows of no such run, or of no such place. */
export function fedOf(database: DatabaseSync, id: bigint): number | null {
  const fed = database.prepare('SELECT fed FROM runs WHERE id = ?').get(id)?.['fed'] ?? null;
  return fed === null ? null : Number(fed);
}

function foldersOf(root: string): readonly string[] {
  try {
    return readdirSync(root).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The file whose lock a run holds. */
export function runFile(file: string, id: bigint): string {
  return `${file}-run-${id}`;
}

/** The lock of a run; null while its process lives. */
export function acquireRun(file: string, id: bigint): DatabaseSync | null {
  return acquire(runFile(file, id));
}

/** Takes away what a run that has ended leaves behind. */
export function removeRun(file: string, id: bigint, lock: DatabaseSync): void {
  rmSync(journalDirectory(file, id), { recursive: true, force: true });
  lock.close();
  rmSync(runFile(file, id), { force: true });
}

/** The lock of whoever feeds the store; null while another process does. */
export function acquireFeeder(file: string): DatabaseSync | null {
  return acquire(`${file}-feeder`);
}

/** The lock of whoever archives calls; null while another process does. */
export function acquireArchiver(file: string): DatabaseSync | null {
  return acquire(`${file}-archive`);
}

function acquire(file: string): DatabaseSync | null {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch {
    lock.close();
    return null;
  }
}
