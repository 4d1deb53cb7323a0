import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { readBooked } from '../columns.ts';
import { inputParts, outputParts } from '../spend-slots.ts';
import { inTransaction } from './database.ts';
import { type FacetedCall, FacetSums } from './facet-sums.ts';

/** Calls of one transaction, which holds nobody up for long. */
const stepCalls = 1_000;
const read = `calls.rowid AS place, trace_id, account_id, key_id, group_id, surface, model_summed AS model,
  coalesce(channel_id, '') AS channel_id, status, coalesce(unbilled_reason, '') AS reason, coalesce(error_code, '') AS error_code,
  started_at_ms, ttft_ms, tag, attempts, charge_nano_usd, ${inputParts.join(' + ')} AS input_tokens,
  input_cache_read + input_cache_read_audio AS cached_tokens, ${outputParts.join(' + ')} AS output_tokens`;

type Row = Readonly<Record<string, SQLOutputValue>>;

/**
 * Follows the calls of the store, whoever has fed them, and makes the facets of those that have none. What it has made goes into the
 * store in one transaction with the place that it has come to. It begins with the oldest call, so an older store needs no step that takes long.
 */
export class FacetMaker {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #sums: FacetSums;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#sums = new FacetSums(database);
  }

  /** True when there is more to do. */
  step(): boolean {
    // Another process may have come further meanwhile, so they are read within the transaction.
    if (this.#statements.some.get(this.#place()) === undefined) return false;
    try {
      // A loss of power that takes some of it away takes its place away, too.
      this.#database.exec('PRAGMA synchronous = NORMAL');
      return inTransaction(this.#database, () => this.#take());
    } catch (error) {
      this.#sums.drop();
      throw error;
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL');
    }
  }

  #take(): boolean {
    const place = this.#place();
    const behind = this.#statements.behind.all(place);
    // Calls that were open when they were come by, and have ended.
    const due = this.#statements.due.all(place);
    const taken = [...due, ...behind].filter(({ status }) => status !== 'open');
    for (const row of taken) this.#sums.add(callOf(row));
    this.#sums.write();
    this.#statements.done.run(JSON.stringify(taken.map((row) => textOf(row['trace_id']))));
    const last = behind.at(-1);
    if (last !== undefined) this.#statements.move.run(textOf(last['trace_id']));
    return Math.max(behind.length, due.length) === stepCalls;
  }

  /** The place is kept by trace id: `VACUUM` numbers rows anew, in their order. */
  #place(): bigint {
    return wholeOf(this.#statements.place.get()?.['place']);
  }
}

function prepareStatements(database: DatabaseSync) {
  return {
    place: database.prepare(
      'SELECT calls.rowid AS place FROM facet_place JOIN calls ON calls.trace_id = facet_place.trace_id',
    ),
    move: database.prepare(
      'INSERT INTO facet_place (id, trace_id) VALUES (1, ?) ON CONFLICT DO UPDATE SET trace_id = excluded.trace_id',
    ),
    some: database.prepare(`SELECT 1 FROM calls WHERE rowid > ?1
      UNION ALL SELECT 1 FROM facets_due CROSS JOIN calls USING (trace_id) WHERE status <> 'open' LIMIT 1`),
    behind: database.prepare(`SELECT ${read} FROM calls WHERE rowid > ? ORDER BY rowid LIMIT ${stepCalls}`),
    due: database.prepare(`SELECT ${read} FROM facets_due CROSS JOIN calls USING (trace_id)
      WHERE calls.rowid <= ? AND status <> 'open' LIMIT ${stepCalls}`),
    done: database.prepare('DELETE FROM facets_due WHERE trace_id IN (SELECT value FROM json_each(?))'),
  };
}

function callOf(row: Row): FacetedCall {
  const text = (column: string) => textOf(row[column]);
  const { tag, ttft_ms } = row;
  return {
    traceId: text('trace_id'),
    facet: {
      account_id: text('account_id'),
      key_id: text('key_id'),
      group_id: text('group_id'),
      surface: text('surface'),
      model: text('model'),
      channel_id: text('channel_id'),
      status: text('status'),
      reason: text('reason'),
      error_code: text('error_code'),
    },
    tag: typeof tag === 'string' ? tag : null,
    startedAtMs: Number(row['started_at_ms']),
    ttftMs: ttft_ms === null ? null : Number(ttft_ms),
    inputTokens: Number(row['input_tokens']),
    cachedTokens: Number(row['cached_tokens']),
    outputTokens: Number(row['output_tokens']),
    chargeNanoUsd: wholeOf(row['charge_nano_usd']),
    attempts: readBooked(text('attempts')),
  };
}

function textOf(cell: SQLOutputValue | undefined): string {
  return typeof cell === 'string' ? cell : '';
}

function wholeOf(cell: SQLOutputValue | undefined): bigint {
  return typeof cell === 'bigint' ? cell : 0n;
}

/** Takes what was found by the facets of these calls away with them; their sums stay. */
export function forgetFaceted(database: DatabaseSync, traceIds: readonly string[]): void {
  const same = `facets.account_id = calls.account_id AND facets.key_id = calls.key_id AND facets.group_id = calls.group_id
    AND facets.surface = calls.surface AND facets.model = model_summed AND facets.channel_id = coalesce(calls.channel_id, '')
    AND facets.status = calls.status AND facets.reason = coalesce(unbilled_reason, '') AND facets.error_code = coalesce(calls.error_code, '')`;
  const listed = JSON.stringify(traceIds);
  database
    .prepare(`DELETE FROM faceted_calls WHERE (facet, trace_id) IN (
      SELECT facets.id, calls.trace_id FROM json_each(?) AS listed
      CROSS JOIN calls ON calls.trace_id = listed.value CROSS JOIN facets ON ${same})`)
    .run(listed);
  database
    .prepare(`DELETE FROM tagged_calls WHERE (tag, trace_id) IN (
      SELECT tag, trace_id FROM json_each(?) AS listed CROSS JOIN calls ON calls.trace_id = listed.value WHERE tag IS NOT NULL)`)
    .run(listed);
}
