import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BookedAttempt } from '../../money/postings.ts';
import { type Cell, placeOf } from '../columns.ts';
import { inputParts, otherTags, outputParts, type SpendKind, tagsMax } from '../spend-slots.ts';
import { RowWriter } from './row-writer.ts';

const places = {
  keyId: placeOf('key_id'),
  accountId: placeOf('account_id'),
  channelId: placeOf('channel_id'),
  reason: placeOf('unbilled_reason'),
  charge: placeOf('charge_nano_usd'),
  tag: placeOf('tag'),
  inputs: inputParts.map(placeOf),
  outputs: outputParts.map(placeOf),
};

interface Sum {
  readonly identity: readonly Cell[];
  calls: number;
  billedCalls: number;
  input: number;
  output: number;
  charge: bigint;
  cost: bigint;
  unknownCosts: number;
}

/**
 * Sums by channel and by tag over the calls of a quarter of an hour. They are gathered for a transaction and written once, as the others.
 */
export class SpendSums {
  readonly #rows: RowWriter;
  readonly #namesOfTags: StatementSync;
  #sums = new Map<string, Sum>();
  /** The tags that a key has sums of in a quarter of an hour. */
  #tags = new Map<string, Set<string>>();

  constructor(database: DatabaseSync) {
    const columns = [...identity, ...summed];
    this.#rows = new RowWriter(
      database,
      `spend_slots (${columns.join(', ')})`,
      columns.length,
      `ON CONFLICT DO UPDATE SET ${summed.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
    );
    this.#namesOfTags = database.prepare(
      "SELECT DISTINCT name FROM spend_slots WHERE kind = 'tag' AND slot_start_ms = ? AND key_id = ?",
    );
  }

  /** A call is charged where it was answered, and costs where it was tried. */
  add(cells: readonly Cell[], slotStartMs: number, attempts: readonly BookedAttempt[]): void {
    const channel = String(cells[places.channelId] ?? '');
    const answered = this.#sumOf('channel', slotStartMs, cells, channel);
    this.#addCall(answered, cells);
    for (const attempt of attempts)
      addCost(
        attempt.channelId === channel
          ? answered
          : this.#sumOf('channel', slotStartMs, cells, attempt.channelId),
        attempt,
      );
    const tag = cells[places.tag];
    if (typeof tag !== 'string') return;
    const sum = this.#sumOf('tag', slotStartMs, cells, this.#nameOfTag(tag, slotStartMs, cells));
    this.#addCall(sum, cells);
    for (const attempt of attempts) addCost(sum, attempt);
  }

  write(): void {
    for (const { identity, ...sum } of this.#sums.values())
      this.#rows.add(
        ...identity,
        ...[sum.calls, sum.billedCalls, sum.input, sum.output],
        ...[sum.charge, sum.cost, sum.unknownCosts],
      );
    this.#rows.write();
    this.drop();
  }

  drop(): void {
    this.#sums = new Map();
    this.#tags = new Map();
    this.#rows.drop();
  }

  /** Callers make tags up: beyond so many of a key in a quarter of an hour, the others have one sum together. */
  #nameOfTag(tag: string, slotStartMs: number, cells: readonly Cell[]): string {
    const place = `${slotStartMs}\n${cells[places.keyId]}`;
    let known = this.#tags.get(place);
    if (known === undefined) {
      const rows = this.#namesOfTags.all(slotStartMs, cells[places.keyId] ?? null);
      known = new Set(rows.map(({ name }) => String(name)));
      known.delete(otherTags);
      this.#tags.set(place, known);
    }
    if (!known.has(tag) && known.size >= tagsMax) return otherTags;
    known.add(tag);
    return tag;
  }

  #sumOf(kind: SpendKind, slotStartMs: number, cells: readonly Cell[], name: string): Sum {
    const [key, account] = [cells[places.keyId] ?? null, cells[places.accountId] ?? null];
    const place = `${kind}\n${slotStartMs}\n${key}\n${name}\n${account}`;
    let sum = this.#sums.get(place);
    if (sum === undefined) {
      const identity = [kind, slotStartMs, key, name, account];
      sum = {
        identity,
        calls: 0,
        billedCalls: 0,
        input: 0,
        output: 0,
        charge: 0n,
        cost: 0n,
        unknownCosts: 0,
      };
      this.#sums.set(place, sum);
    }
    return sum;
  }

  #addCall(sum: Sum, cells: readonly Cell[]): void {
    sum.calls++;
    if (cells[places.reason] === null) sum.billedCalls++;
    for (const place of places.inputs) sum.input += Number(cells[place]);
    for (const place of places.outputs) sum.output += Number(cells[place]);
    sum.charge += BigInt(cells[places.charge] ?? 0);
  }
}

function addCost(sum: Sum, { costNanoUsd }: BookedAttempt): void {
  if (costNanoUsd === null) sum.unknownCosts++;
  else sum.cost += costNanoUsd;
}

const identity = ['kind', 'slot_start_ms', 'key_id', 'name', 'account_id'];
const summed = [
  ...['calls', 'billed_calls', 'input_tokens', 'output_tokens'],
  ...['charge_nano_usd', 'cost_nano_usd', 'unknown_costs'],
];
