import type { DatabaseSync } from 'node:sqlite';
import { type CallColumn, type Cell, callColumns, usageColumns } from '../call-row.ts';
import { postingWidth } from '../settle-batch.ts';
import { slotOf } from '../usage-slot.ts';

const position = (column: CallColumn) => callColumns.indexOf(column);
const keyAt = position('key_id');
const modelAt = position('model_requested');
const accountAt = position('account_id');
const groupAt = position('group_id');
const startedAt = position('started_at_ms');
const reasonAt = position('unbilled_reason');
const usageAt = position('input_fresh');
const chargeAt = position('charge_nano_usd');

interface SlotSum {
  readonly identity: readonly Cell[];
  calls: number;
  billedCalls: number;
  readonly usage: number[];
  charge: bigint;
}

/**
 * The sums that move with a batch: balances and usage per quarter of an hour. Gathered in memory and written once per
 * batch, because most calls of a batch share their key, model and channel.
 */
export class Sums {
  readonly #balances = new Map<string, { change: bigint }>();
  readonly #slots = new Map<string, SlotSum>();

  /** Takes postings as a row to settle has them. */
  addPostings(cells: readonly Cell[]): void {
    for (let at = 0; at < cells.length; at += postingWidth) {
      const amount = BigInt(cells[at + 2] ?? 0);
      this.#balanceOf(String(cells[at])).change -= amount;
      this.#balanceOf(String(cells[at + 1])).change += amount;
    }
  }

  /** Takes an ended call in the columns of `callColumns`. */
  addCall(cells: readonly Cell[]): void {
    const sum = this.#slotOf(cells);
    sum.calls++;
    if (cells[reasonAt] === null) sum.billedCalls++;
    for (let part = 0; part < usageColumns.length; part++) {
      sum.usage[part] = (sum.usage[part] ?? 0) + Number(cells[usageAt + part]);
    }
    sum.charge += BigInt(cells[chargeAt] ?? 0);
  }

  #balanceOf(ledgerAccount: string): { change: bigint } {
    const known = this.#balances.get(ledgerAccount);
    if (known !== undefined) return known;
    const balance = { change: 0n };
    this.#balances.set(ledgerAccount, balance);
    return balance;
  }

  #slotOf(cells: readonly Cell[]): SlotSum {
    const slotStartMs = slotOf(Number(cells[startedAt]));
    const name = `${cells[keyAt]}\n${slotStartMs}\n${cells[modelAt]}\n${cells[accountAt]}\n${cells[groupAt]}`;
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const sum: SlotSum = {
      identity: [cells[keyAt], slotStartMs, cells[modelAt], cells[accountAt], cells[groupAt]].map(
        (cell) => cell ?? null,
      ),
      calls: 0,
      billedCalls: 0,
      usage: usageColumns.map(() => 0),
      charge: 0n,
    };
    this.#slots.set(name, sum);
    return sum;
  }

  write(statements: SumStatements): void {
    for (const [account, { change }] of this.#balances) statements.balance.run(account, change);
    for (const sum of this.#slots.values()) {
      statements.slot.run(...sum.identity, sum.calls, sum.billedCalls, ...sum.usage, sum.charge);
    }
  }
}

export type SumStatements = ReturnType<typeof prepareSums>;

export function prepareSums(database: DatabaseSync) {
  const identity = ['key_id', 'slot_start_ms', 'model', 'account_id', 'group_id'];
  const summed = ['calls', 'billed_calls', ...usageColumns, 'charge_nano_usd'];
  const columns = [...identity, ...summed];
  return {
    balance: database.prepare(
      `INSERT INTO balances (ledger_account, balance_nano_usd) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET balance_nano_usd = balance_nano_usd + excluded.balance_nano_usd`,
    ),
    slot: database.prepare(
      `INSERT INTO usage_slots (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${summed.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
    ),
  };
}
