import type { DatabaseSync } from 'node:sqlite';
import type { BookedAttempt } from '../../money/postings.ts';
import { type Cell, placeOf } from '../columns.ts';
import { inputParts, outputParts } from '../spend-slots.ts';
import { FacetSums } from './facet-sums.ts';

const places = {
  traceId: placeOf('trace_id'),
  account: placeOf('account_id'),
  key: placeOf('key_id'),
  group: placeOf('group_id'),
  surface: placeOf('surface'),
  channel: placeOf('channel_id'),
  status: placeOf('status'),
  reason: placeOf('unbilled_reason'),
  error: placeOf('error_code'),
  startedAt: placeOf('started_at_ms'),
  ttft: placeOf('ttft_ms'),
  tag: placeOf('tag'),
  charge: placeOf('charge_nano_usd'),
  inputs: inputParts.map(placeOf),
  cached: ['input_cache_read', 'input_cache_read_audio'].map(placeOf),
  outputs: outputParts.map(placeOf),
};

/**
 * The facets of calls that are being fed, made of their cells while these are at hand. It leaves them to the `FacetMaker` in a transaction
 * that begins with calls which have none yet: those that another version has fed, or was there before.
 */
export class FacetFeed {
  readonly #sums: FacetSums;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #follows = false;
  #taken: string[] = [];

  constructor(database: DatabaseSync) {
    this.#sums = new FacetSums(database);
    this.#statements = prepareStatements(database);
  }

  /** At the begin of a transaction: calls of another process may have come since the last one. */
  begin(): void {
    this.#follows = this.#statements.follows.get() !== undefined;
    this.#taken = [];
    if (!this.#follows) this.drop();
  }

  /** A call that has ended with these cells. `model` is the name that sums have for its model. */
  add(cells: readonly Cell[], model: Cell, attempts: readonly BookedAttempt[]): void {
    if (!this.#follows) return;
    const traceId = textOf(cells[places.traceId]);
    const [tag, ttft] = [cells[places.tag], cells[places.ttft]];
    this.#taken.push(traceId);
    this.#sums.add({
      traceId,
      facet: {
        account_id: textOf(cells[places.account]),
        key_id: textOf(cells[places.key]),
        group_id: textOf(cells[places.group]),
        surface: textOf(cells[places.surface]),
        model: textOf(model),
        channel_id: textOf(cells[places.channel]),
        status: textOf(cells[places.status]),
        reason: textOf(cells[places.reason]),
        error_code: textOf(cells[places.error]),
      },
      tag: typeof tag === 'string' ? tag : null,
      startedAtMs: Number(cells[places.startedAt]),
      ttftMs: ttft === null || ttft === undefined ? null : Number(ttft),
      inputTokens: sumOf(cells, places.inputs),
      cachedTokens: sumOf(cells, places.cached),
      outputTokens: sumOf(cells, places.outputs),
      chargeNanoUsd: BigInt(cells[places.charge] ?? 0),
      attempts,
    });
  }

  write(): void {
    this.#sums.write();
  }

  /** All calls of the store have their facets now, but for those that are open or due. */
  end(): void {
    if (!this.#follows) return;
    // A call that had a row while it was open has been noted as due when it ended, in this transaction.
    if (this.#taken.length > 0 && this.#statements.isDue.get() !== undefined)
      this.#statements.done.run(JSON.stringify(this.#taken));
    this.#statements.move.run();
  }

  drop(): void {
    this.#sums.drop();
  }
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'string' ? cell : '';
}

function sumOf(cells: readonly Cell[], parts: readonly number[]): number {
  let sum = 0;
  for (const part of parts) sum += Number(cells[part]);
  return sum;
}

function prepareStatements(database: DatabaseSync) {
  return {
    follows: database.prepare(
      `SELECT 1 WHERE (SELECT coalesce(max(rowid), 0) FROM calls) = coalesce(
        (SELECT calls.rowid FROM facet_place CROSS JOIN calls USING (trace_id)), 0)`,
    ),
    isDue: database.prepare('SELECT 1 FROM facets_due LIMIT 1'),
    done: database.prepare('DELETE FROM facets_due WHERE trace_id IN (SELECT value FROM json_each(?))'),
    move: database.prepare(
      `INSERT INTO facet_place (id, trace_id) SELECT 1, trace_id FROM calls WHERE rowid = (SELECT max(rowid) FROM calls)
       ON CONFLICT DO UPDATE SET trace_id = excluded.trace_id`,
    ),
  };
}
