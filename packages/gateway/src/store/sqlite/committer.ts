import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Settlement } from '../../ports/ledger.ts';
import { type Cell, callColumns } from '../call-row.ts';
import { type Batch, type BatchOutcome, postingWidth, type SettleRow } from '../settle-batch.ts';
import { failureOf, inTransaction } from './database.ts';
import { prepareSums, Sums } from './sums.ts';

const columnList = callColumns.join(', ');
const placeholders = callColumns.map(() => '?').join(', ');
const changedColumns = callColumns.filter((column) => column !== 'trace_id');

/** Writes batches of the ledger, each in one transaction. The only code that settles, in any process. */
export class Committer {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareCommit>;
  readonly #postings = new Map<number, StatementSync>();
  #stopped = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareCommit(database);
  }

  /** `run` tells which of the living processes holds the calls that the batch opens. */
  commit(batch: Batch, run: () => bigint | null): BatchOutcome {
    if (this.#stopped) return { kind: 'failed', stopped: true, detail: 'the ledger stopped after a fault' };
    try {
      return { kind: 'committed', settlements: this.#commitWhole(batch, run()), refusal: null };
    } catch (error) {
      return this.#afterFailure(batch, run, error);
    }
  }

  /** Takes and gives back room in the file, to find out whether the ledger can be written again. */
  probe(): boolean {
    if (this.#stopped) return false;
    try {
      inTransaction(this.#database, () => {
        this.#database.exec('CREATE TABLE probe (room BLOB)');
        this.#database.exec('INSERT INTO probe VALUES (zeroblob(65536))');
        this.#database.exec('DROP TABLE probe');
      });
      return true;
    } catch (error) {
      this.#stopped = failureOf(error) === 'fatal';
      return false;
    }
  }

  #commitWhole(batch: Batch, run: bigint | null): Settlement[] {
    return inTransaction(this.#database, () => {
      for (const call of batch.opens) this.#statements.open.run(...call, run);
      const sums = new Sums();
      const settlements = batch.settles.map((row) => this.#settle(row, sums));
      sums.write(this.#statements.sums);
      return settlements;
    });
  }

  #settle(row: SettleRow, sums: Sums): Settlement {
    const call = row.slice(0, callColumns.length);
    const postings = row.slice(callColumns.length);
    if (this.#statements.settle.run(...call).changes === 0) return this.#compare(call);
    if (postings.length > 0) this.#insertPostings(postings.length / postingWidth).run(...postings);
    sums.addCall(call);
    sums.addPostings(postings);
    return 'settled';
  }

  /** One statement for all postings of a call: at this rate it is statements that cost, not rows. */
  #insertPostings(count: number): StatementSync {
    const known = this.#postings.get(count);
    if (known !== undefined) return known;
    const rows = Array.from({ length: count }, () => '(?, ?, ?, ?)').join(', ');
    const columns = 'debit, credit, amount_nano_usd, reference';
    const statement = this.#database.prepare(`INSERT INTO postings (${columns}) VALUES ${rows}`);
    this.#postings.set(count, statement);
    return statement;
  }

  #compare(call: readonly Cell[]): Settlement {
    const stored = this.#statements.stored.get(call[0] ?? null) ?? {};
    const same = callColumns.every((column, index) =>
      isSameCell(stored[column] ?? null, call[index] ?? null),
    );
    return same ? 'already-settled' : 'conflict';
  }

  #afterFailure(batch: Batch, run: () => bigint | null, error: unknown): BatchOutcome {
    const failure = failureOf(error);
    const detail = error instanceof Error ? error.message : String(error);
    if (failure === 'fatal') this.#stopped = true;
    if (failure !== 'values') return { kind: 'failed', stopped: this.#stopped, detail };
    const isSingle = batch.opens.length + batch.settles.length === 1;
    if (isSingle)
      return { kind: 'committed', settlements: batch.settles.map(() => 'unavailable'), refusal: detail };
    return { kind: 'committed', settlements: this.#commitOneByOne(batch, run), refusal: detail };
  }

  /** One entry that the store will not take must not cost the others of its batch theirs. */
  #commitOneByOne(batch: Batch, run: () => bigint | null): Settlement[] {
    for (const open of batch.opens) this.commit({ opens: [open], settles: [] }, run);
    return batch.settles.map((settle) => {
      const outcome = this.commit({ opens: [], settles: [settle] }, run);
      return outcome.kind === 'committed' ? (outcome.settlements[0] ?? 'unavailable') : 'unavailable';
    });
  }
}

function isSameCell(stored: unknown, given: Cell): boolean {
  if (stored === null || given === null) return stored === given;
  return String(stored) === String(given);
}

function prepareCommit(database: DatabaseSync) {
  // An open row is replaced by the call's end; an ended one never changes.
  const settle = database.prepare(
    `INSERT INTO calls (${columnList}) VALUES (${placeholders})
     ON CONFLICT (trace_id) DO UPDATE SET run = NULL,
       ${changedColumns.map((column) => `${column} = excluded.${column}`).join(', ')}
     WHERE calls.status = 'open'`,
  );
  // It gives back a count only, and a number is cheaper than a bigint.
  settle.setReadBigInts(false);
  return {
    settle,
    open: database.prepare(
      `INSERT INTO calls (${columnList}, run) VALUES (${placeholders}, ?) ON CONFLICT DO NOTHING`,
    ),
    stored: database.prepare(`SELECT ${columnList} FROM calls WHERE trace_id = ?`),
    sums: prepareSums(database),
  };
}
