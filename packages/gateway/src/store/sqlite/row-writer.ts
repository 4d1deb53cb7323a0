import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Cell } from '../columns.ts';

/** A statement of so many rows costs hardly more for each of them than a larger one. */
const rowsMax = 32;

/** Inserts rows, many in a statement: at the feeder's rate it is statements that cost. */
export class RowWriter {
  readonly #database: DatabaseSync;
  readonly #insertion: string;
  readonly #onConflict: string;
  readonly #width: number;
  readonly #statements = new Map<number, StatementSync>();
  #cells: Cell[] = [];

  /** `insertion` names the table and its columns, of which there are `width`. */
  constructor(database: DatabaseSync, insertion: string, width: number, onConflict = '') {
    this.#database = database;
    this.#insertion = insertion;
    this.#onConflict = onConflict;
    this.#width = width;
  }

  /** One row, which may be written now or with those that come. */
  add(...row: readonly Cell[]): void {
    this.#cells.push(...row);
    if (this.#cells.length >= rowsMax * this.#width) this.write();
  }

  write(): void {
    if (this.#cells.length === 0) return;
    const cells = this.#cells;
    this.drop();
    this.#statementOf(cells.length / this.#width).run(...cells);
  }

  drop(): void {
    this.#cells = [];
  }

  #statementOf(count: number): StatementSync {
    let statement = this.#statements.get(count);
    if (statement === undefined) {
      const row = `(${Array.from({ length: this.#width }, () => '?').join(', ')})`;
      const rows = Array.from({ length: count }, () => row).join(', ');
      statement = this.#database.prepare(`INSERT INTO ${this.#insertion} VALUES ${rows} ${this.#onConflict}`);
      // It gives back a count only, and a number is cheaper than a bigint.
      statement.setReadBigInts(false);
      this.#statements.set(count, statement);
    }
    return statement;
  }
}
