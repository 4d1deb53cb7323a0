import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** The head of a log, and that of each of its frames. Bytes, https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const logHeadBytes = 32;
const frameHeadBytes = 24;

/**
 * Tells whether a database's log is as long as its index says. One that was cut short in place has lost transactions, and SQLite writes
 * the next one behind the hole. Others may empty it in order, who empty its index before.
 */
export class LogLength {
  readonly #path: string;
  readonly #frames: StatementSync;
  readonly #frameBytes: number;

  constructor(database: DatabaseSync, file: string) {
    this.#path = `${file}-wal`;
    this.#frames = database.prepare('PRAGMA wal_checkpoint(NOOP)');
    const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() ?? {};
    this.#frameBytes = frameHeadBytes + Number(pageBytes ?? 0);
  }

  isShort(): boolean {
    const frames = this.#framesNow();
    if (frames <= 0) return false;
    const bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    const isShort = bytes < logHeadBytes + frames * this.#frameBytes;
    // It may have been emptied between the two looks.
    return isShort && this.#framesNow() === frames;
  }

  #framesNow(): number {
    return Number(this.#frames.get()?.['log'] ?? 0);
  }
}
