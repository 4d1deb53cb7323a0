import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { callColumns } from '../call-row.ts';
import { inTransaction } from './database.ts';
import { prepareSums, Sums } from './sums.ts';

/**
 * A run is a process that may hold calls open. It lives as long as it holds the exclusive lock of a file of its own:
 * the system lets go of the lock however the process ends, `kill -9` included, and neither a paused process nor
 * a process id used again can be mistaken.
 */
export class Run {
  readonly id: bigint;
  readonly #file: string;
  readonly #lock: DatabaseSync;

  constructor(database: DatabaseSync, file: string, nowMs: number) {
    const held = inTransaction(database, () => {
      const insert = database.prepare('INSERT INTO runs (started_at_ms) VALUES (?)');
      const id = BigInt(insert.run(nowMs).lastInsertRowid);
      // Held before others can see the row, so that no one takes this run for dead.
      return { id, lock: acquire(lockFile(file, id)) };
    });
    if (held.lock === null) throw new Error('a fresh run cannot take its own lock');
    this.id = held.id;
    this.#lock = held.lock;
    this.#file = file;
  }

  /** Leaves the row: calls still open are ended as interrupted by whoever starts next. */
  close(): void {
    this.#lock.close();
    rmSync(lockFile(this.#file, this.id), { force: true });
  }
}

/** Ends the open calls of every run that no longer lives. Returns how many there were. */
export function recoverInterrupted(database: DatabaseSync, file: string, own: Run | null): number {
  const ids = database
    .prepare('SELECT id FROM runs')
    .all()
    .map((row) => BigInt(Number(row['id'])));
  let recovered = 0;
  for (const id of ids) {
    if (id === own?.id) continue;
    const lock = acquire(lockFile(file, id));
    if (lock === null) continue;
    recovered += interrupt(database, id);
    lock.close();
    rmSync(lockFile(file, id), { force: true });
  }
  return recovered;
}

function lockFile(file: string, id: bigint): string {
  return `${file}-run-${id}`;
}

/** Null when a living process holds it. */
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

function interrupt(database: DatabaseSync, run: bigint): number {
  return inTransaction(database, () => {
    const update = database.prepare(
      `UPDATE calls SET status = 'interrupted', unbilled_reason = 'interrupted', run = NULL WHERE run = ?
       RETURNING ${callColumns.join(', ')}`,
    );
    const sums = new Sums();
    const calls = update.all(run);
    for (const call of calls) sums.addCall(callColumns.map((column) => toCell(call[column])));
    sums.write(prepareSums(database));
    database.prepare('DELETE FROM runs WHERE id = ?').run(run);
    return calls.length;
  });
}

function toCell(value: unknown) {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value;
  return null;
}
