import type { DatabaseSync } from 'node:sqlite';
import type { Cell } from '../columns.ts';
import { spendingWidths } from './lease-tables.ts';
import { RowWriter } from './row-writer.ts';

type Owner = 'account' | 'group' | 'key';

/** An owner's charges of a quarter of an hour. */
interface Spending {
  readonly subject: string;
  readonly slotStartMs: number;
  charge: bigint;
}

/** The charges of one transaction by owner. Each row is written once: many keys share their account and group. */
export class OwnerSpending {
  readonly #rows: RowWriter;
  #spending = new Map<string, Spending>();

  constructor(database: DatabaseSync) {
    this.#rows = new RowWriter(
      database,
      'spending (subject, width_ms, start_ms, charge_nano_usd)',
      4,
      'ON CONFLICT DO UPDATE SET charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd',
    );
  }

  add(owner: Owner, id: Cell, slotStartMs: number, charge: bigint): void {
    if (charge === 0n) return;
    const subject = `${owner}:${id}`;
    const place = `${slotStartMs}\n${subject}`;
    const known = this.#spending.get(place);
    if (known === undefined) this.#spending.set(place, { subject, slotStartMs, charge });
    else known.charge += charge;
  }

  write(): void {
    for (const { subject, slotStartMs, charge } of this.#spending.values())
      for (const width of spendingWidths)
        this.#rows.add(subject, width, width === 0 ? 0 : slotStartMs - (slotStartMs % width), charge);
    this.#rows.write();
    this.drop();
  }

  drop(): void {
    this.#spending = new Map();
    this.#rows.drop();
  }
}
