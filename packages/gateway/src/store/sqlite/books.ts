import type { DatabaseSync } from 'node:sqlite';
import { nanoUsd } from '../../money/money.ts';
import { type BookedAttempt, postingsFor } from '../../money/postings.ts';
import type { LedgerAlarm } from '../../ports/store.ts';
import { archivedFinder } from '../archive/archived-calls.ts';
import { type Cell, callColumns, placeOf, readBooked, usageColumns } from '../columns.ts';
import type { Passage } from '../journal/reader.ts';
import { isSameCell, type Row, readLine } from '../lines.ts';
import { unknownModel } from '../model-names.ts';
import { slotOf } from '../reports.ts';
import { failureOf, inTransaction } from './database.ts';
import { FacetFeed } from './facet-feed.ts';
import { endLeases } from './leases.ts';
import { OwnerSpending } from './owner-spending.ts';
import { RowWriter } from './row-writer.ts';
import { fedOf } from './runs.ts';
import { SpendSums } from './spend-sums.ts';

/** The origin of lines, so that each of them is taken once. */
export interface Movement {
  readonly run: bigint;
  readonly from: number;
  /** When the run's journal was fed to its end, if it is so with these lines. */
  readonly fedAtMs: number | null;
}

const conflict = 'another entry has this trace id';

const places = {
  traceId: placeOf('trace_id'),
  keyId: placeOf('key_id'),
  accountId: placeOf('account_id'),
  groupId: placeOf('group_id'),
  model: placeOf('model_requested'),
  price: placeOf('price_version'),
  startedAt: placeOf('started_at_ms'),
  status: placeOf('status'),
  reason: placeOf('unbilled_reason'),
  usage: placeOf('input_fresh'),
  charge: placeOf('charge_nano_usd'),
  leased: placeOf('leased'),
  attempts: placeOf('attempts'),
};

/**
 * The only writer of calls, of their postings and of sums, in any process. The sums that move with calls are gathered in memory
 * and written once for a transaction, because most calls share their key, model and channel.
 */
export class Books {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #postings: RowWriter;
  #balances = new Map<string, bigint>();
  #slots = new Map<string, Slot>();
  readonly #spend: SpendSums;
  readonly #spending: OwnerSpending;
  readonly #facets: FacetFeed;
  readonly #findArchived: ReturnType<typeof archivedFinder>;
  /** No call behind it was archived when the transaction began. */
  #archivedTo = '';
  /** Charges of lines of the run that is fed, by the subject of the lease that they are taken from. */
  #leases = new Map<string, bigint>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#postings = new RowWriter(database, 'postings (debit, credit, amount_nano_usd, reference)', 4);
    this.#spend = new SpendSums(database);
    this.#spending = new OwnerSpending(database);
    this.#facets = new FacetFeed(database);
    this.#findArchived = archivedFinder(database);
  }

  /**
   * Takes lines of a journal in one transaction with the place they reach, which need not be durable when it returns. A line that
   * cannot be taken is set aside, for which there is an alarm. Throws, having taken nothing, when the store cannot be written.
   */
  take(passage: Passage, movement: Movement, isDurable: boolean): readonly LedgerAlarm[] {
    this.#database.exec(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`);
    try {
      return this.#inTransaction(() =>
        this.#takeAll(passage, movement, (line) => this.#record(line, passage, movement.run)),
      );
    } catch (error) {
      if (failureOf(error) !== 'values') throw error;
      // A line that the store will not take must not cost the others theirs.
      return this.#inTransaction(() =>
        this.#takeAll(passage, movement, (line) => this.#tryRecord(line, passage, movement.run)),
      );
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL');
    }
  }

  /** Ends the calls that a dead run left open, unbilled, and forgets it with its leases. Returns how many there were. */
  retire(run: bigint, nowMs: number): number {
    return this.#inTransaction(() => {
      const calls = this.#statements.interrupt.all(run);
      for (const call of calls) {
        const cells = callColumns.map((column) => toCell(call[column]));
        this.#sum(cells, readBooked(String(cells[places.attempts])));
      }
      this.#writeSums(run);
      endLeases(this.#database, run, nowMs);
      this.#database.prepare('DELETE FROM runs WHERE id = ?').run(run);
      return calls.length;
    });
  }

  /** Forgets a run whose journal is gone, unless it has left calls open; its leases go in any case. */
  end(run: bigint, nowMs: number): void {
    this.#inTransaction(() => {
      endLeases(this.#database, run, nowMs);
      this.#database.prepare('UPDATE runs SET fed = NULL WHERE id = ?').run(run);
      this.#database
        .prepare('DELETE FROM runs WHERE id = ? AND NOT EXISTS (SELECT 1 FROM calls WHERE run = ?)')
        .run(run, run);
    });
  }

  /** A journal that the store has never heard of is as good as any other. */
  adopt(run: bigint, place: number, nowMs: number): void {
    this.#database
      .prepare(
        'INSERT INTO runs (id, started_at_ms, fed, fed_at_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      )
      .run(run, nowMs, place, nowMs);
  }

  fedOf(run: bigint): number | null {
    return fedOf(this.#database, run);
  }

  #inTransaction<Value>(work: () => Value): Value {
    try {
      return inTransaction(this.#database, work);
    } catch (error) {
      this.#dropSums();
      this.#facets.drop();
      throw error;
    }
  }

  #takeAll(
    { lines, end }: Passage,
    { run, from, fedAtMs }: Movement,
    record: (line: string) => string | null,
  ): readonly LedgerAlarm[] {
    const alarms: LedgerAlarm[] = [];
    this.#archivedTo = String(this.#statements.archivedTo.get()?.['last_trace'] ?? '');
    this.#facets.begin();
    for (const line of lines) {
      const refusal = record(line);
      if (refusal === null) continue;
      this.#statements.setAside.run(run, from, refusal, line);
      const traceId = /^.\["([^"]*)"/.exec(line)?.[1] ?? null;
      alarms.push({ kind: refusal === conflict ? 'conflict' : 'unavailable', traceId, detail: refusal });
    }
    this.#writeSums(run);
    this.#facets.end();
    const { changes } = this.#statements.move.run(end, fedAtMs, run, from, from);
    if (Number(changes) !== 1) throw new Error(`another process has fed the journal of run ${run}`);
    return alarms;
  }

  /** Null, or why the line is not taken. */
  #record(line: string, { columns }: Passage, run: bigint): string | null {
    let row: Row;
    try {
      row = readLine(line, columns);
    } catch (error) {
      return String(error);
    }
    const { cells, isOpen } = row;
    if (isOpen) this.#statements.open.run(...cells, run);
    else if (this.#isArchived(cells) || this.#statements.settle.run(...cells).changes === 0)
      return this.#isKnown(cells) ? null : conflict;
    else {
      const attempts = readBooked(String(cells[places.attempts]));
      this.#post(cells, attempts);
      this.#takeFromLeases(cells);
      this.#facets.add(cells, modelOf(cells, attempts), attempts);
      this.#sum(cells, attempts);
    }
    return null;
  }

  #tryRecord(line: string, passage: Passage, run: bigint): string | null {
    this.#database.exec('SAVEPOINT line');
    try {
      const refusal = this.#record(line, passage, run);
      this.#writeSums(run);
      return refusal;
    } catch (error) {
      if (failureOf(error) !== 'values') throw error;
      this.#dropSums();
      this.#facets.drop();
      this.#database.exec('ROLLBACK TO line');
      return error instanceof Error ? error.message : String(error);
    } finally {
      if (this.#database.isTransaction) this.#database.exec('RELEASE line');
    }
  }

  #writeSums(run: bigint): void {
    for (const [subject, charge] of this.#leases) this.#statements.lease.run(subject, run, -charge);
    for (const [account, change] of this.#balances) this.#statements.balance.run(account, change);
    this.#postings.write();
    this.#writeSlots();
    this.#spend.write();
    this.#facets.write();
    this.#dropSums();
  }

  /** Triggers add to the spending of owners for a feeder of an older version; this one gathers it, and writes a row once for all slots. */
  #writeSlots(): void {
    if (this.#slots.size === 0) return;
    this.#statements.gather.run();
    for (const slot of this.#slots.values()) {
      const { identity, calls, billedCalls, usage, charge, cost, unknownCosts } = slot;
      this.#statements.slot.run(...identity, calls, billedCalls, ...usage, charge, cost, unknownCosts);
      const { keyId, startMs, accountId, groupId } = slot;
      this.#spending.add('account', accountId, startMs, charge);
      this.#spending.add('group', groupId, startMs, charge);
      this.#spending.add('key', keyId, startMs, charge);
    }
    this.#spending.write();
    this.#statements.endGathering.run();
  }

  #dropSums(): void {
    this.#postings.drop();
    this.#spending.drop();
    this.#balances = new Map();
    this.#slots = new Map();
    this.#spend.drop();
    this.#leases = new Map();
  }

  /** An old call that is settled once more must not be booked once more because its row has been moved. */
  #isArchived(cells: readonly Cell[]): boolean {
    const traceId = String(cells[places.traceId]);
    return traceId <= this.#archivedTo && this.#findArchived(traceId) !== undefined;
  }

  /** True when the entry of this trace id is the very same. */
  #isKnown(cells: readonly Cell[]): boolean {
    const traceId = String(cells[places.traceId]);
    const stored = this.#statements.stored.get(traceId) ?? this.#findArchived(traceId) ?? {};
    return callColumns.every((column, at) => isSameCell(toCell(stored[column]), cells[at] ?? null));
  }

  #post(cells: readonly Cell[], attempts: readonly BookedAttempt[]): void {
    const at = (place: number) => String(cells[place]);
    const charge = nanoUsd(BigInt(cells[places.charge] ?? 0));
    const postings = postingsFor({
      accountId: at(places.accountId),
      status: at(places.status),
      unbilledReason: cells[places.reason] === null ? null : at(places.reason),
      chargeNanoUsd: charge,
      attempts,
    });
    for (const { debit, credit, amountNanoUsd } of postings) {
      this.#postings.add(debit, credit, amountNanoUsd, at(places.traceId));
      this.#balances.set(debit, (this.#balances.get(debit) ?? 0n) - amountNanoUsd);
      this.#balances.set(credit, (this.#balances.get(credit) ?? 0n) + amountNanoUsd);
    }
  }

  /** The charge of a call leaves the leases that its run has taken it from. */
  #takeFromLeases(cells: readonly Cell[]): void {
    const leased = Number(cells[places.leased]);
    const charge = BigInt(cells[places.charge] ?? 0);
    if (leased === 0 || charge === 0n) return;
    const take = (subject: string) => this.#leases.set(subject, (this.#leases.get(subject) ?? 0n) + charge);
    if ((leased & 1) !== 0) take(`account:${cells[places.accountId]}`);
    if ((leased & 2) !== 0) take(`group:${cells[places.groupId]}`);
    if ((leased & 4) !== 0) take(`key:${cells[places.keyId]}`);
  }

  #sum(cells: readonly Cell[], attempts: readonly BookedAttempt[]): void {
    this.#spend.add(cells, slotOf(Number(cells[places.startedAt])), attempts);
    const slot = this.#slotOf(cells, attempts);
    slot.calls++;
    if (cells[places.reason] === null) slot.billedCalls++;
    for (let part = 0; part < usageColumns.length; part++)
      slot.usage[part] = (slot.usage[part] ?? 0) + Number(cells[places.usage + part]);
    slot.charge += BigInt(cells[places.charge] ?? 0);
    for (const { costNanoUsd } of attempts) {
      if (costNanoUsd === null) slot.unknownCosts++;
      else slot.cost += costNanoUsd;
    }
  }

  #slotOf(cells: readonly Cell[], attempts: readonly BookedAttempt[]): Slot {
    const start = slotOf(Number(cells[places.startedAt]));
    const { keyId, accountId, groupId } = places;
    const model = modelOf(cells, attempts);
    const name = `${cells[keyId]}\n${start}\n${model}\n${cells[accountId]}\n${cells[groupId]}`;
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const identity = [cells[keyId], start, model, cells[accountId], cells[groupId]];
    const slot = {
      identity: identity.map((cell) => cell ?? null),
      startMs: start,
      keyId: cells[keyId] ?? null,
      accountId: cells[accountId] ?? null,
      groupId: cells[groupId] ?? null,
      calls: 0,
      billedCalls: 0,
      usage: usageColumns.map(() => 0),
      charge: 0n,
      cost: 0n,
      unknownCosts: 0,
    };
    this.#slots.set(name, slot);
    return slot;
  }
}

/** The sums of a key, a quarter of an hour and a model. */
interface Slot {
  readonly identity: readonly Cell[];
  readonly startMs: number;
  readonly keyId: Cell;
  readonly accountId: Cell;
  readonly groupId: Cell;
  calls: number;
  billedCalls: number;
  readonly usage: number[];
  charge: bigint;
  cost: bigint;
  unknownCosts: number;
}

/** A call that was neither admitted nor tried counts under no word of its caller's, as the column `model_summed` has it. */
function modelOf(cells: readonly Cell[], attempts: readonly BookedAttempt[]): Cell {
  const isKnown = attempts.length > 0 || cells[places.price] !== null;
  return isKnown ? (cells[places.model] ?? null) : unknownModel;
}

function toCell(value: unknown): Cell {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value;
  return null;
}

function prepareStatements(database: DatabaseSync) {
  const columns = callColumns.join(', ');
  const values = callColumns.map(() => '?').join(', ');
  const changed = callColumns.filter((column) => column !== 'trace_id');
  // An open row is replaced by the call's end; an ended one never changes.
  const settle = database.prepare(
    `INSERT INTO calls (${columns}) VALUES (${values})
     ON CONFLICT (trace_id) DO UPDATE SET run = NULL, ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}
     WHERE calls.status = 'open'`,
  );
  // It gives back a count only, and a number is cheaper than a bigint.
  settle.setReadBigInts(false);
  const open = `INSERT INTO calls (${columns}, run) VALUES (${values}, ?) ON CONFLICT DO NOTHING`;
  const interrupt = `UPDATE calls SET status = 'interrupted', unbilled_reason = 'interrupted', run = NULL
    WHERE run = ? RETURNING ${columns}`;
  const identity = ['key_id', 'slot_start_ms', 'model', 'account_id', 'group_id'];
  const sums = [
    'calls',
    'billed_calls',
    ...usageColumns,
    'charge_nano_usd',
    'cost_nano_usd',
    'unknown_costs',
  ];
  const slot = [...identity, ...sums];
  return {
    settle,
    open: database.prepare(open),
    interrupt: database.prepare(interrupt),
    stored: database.prepare(`SELECT ${columns} FROM calls WHERE trace_id = ?`),
    archivedTo: database.prepare('SELECT max(last_trace) AS last_trace FROM archives'),
    setAside: database.prepare('INSERT INTO set_aside (run, place, reason, line) VALUES (?, ?, ?, ?)'),
    move: database.prepare(
      'UPDATE runs SET fed = ?, fed_at_ms = coalesce(?, fed_at_ms) WHERE id = ? AND coalesce(fed, ?) = ?',
    ),
    balance: database.prepare(
      `INSERT INTO balances (ledger_account, balance_nano_usd) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET balance_nano_usd = balance_nano_usd + excluded.balance_nano_usd`,
    ),
    lease: database.prepare(
      `INSERT INTO leases (subject, measure, run, outstanding) VALUES (?, 'money', ?, ?)
       ON CONFLICT DO UPDATE SET outstanding = outstanding + excluded.outstanding`,
    ),
    gather: database.prepare('INSERT INTO gathering (id) VALUES (1)'),
    endGathering: database.prepare('DELETE FROM gathering'),
    slot: database.prepare(
      `INSERT INTO usage_slots (${slot.join(', ')}) VALUES (${slot.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${sums.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
    ),
  };
}
