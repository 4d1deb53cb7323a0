import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { bucketOf, callerFaults, facetColumns, facetSums, failedStatuses } from '../call-facets.ts';
import { type Cell, readBooked } from '../columns.ts';
import { spanMs, startOf } from '../reports.ts';
import { inputParts, outputParts } from '../spend-slots.ts';
import { inTransaction } from './database.ts';
import { RowWriter } from './row-writer.ts';

/** Calls of one transaction, which holds nobody up for long. */
const stepCalls = 1_000;
/** Facets that are remembered by their cells. */
const knownMax = 50_000;

const read = `calls.rowid AS place, trace_id, account_id, key_id, group_id, surface, model_summed AS model,
  coalesce(channel_id, '') AS channel_id, status, coalesce(unbilled_reason, '') AS reason, coalesce(error_code, '') AS error_code,
  started_at_ms, ttft_ms, tag, attempts, charge_nano_usd, ${inputParts.join(' + ')} AS input_tokens,
  input_cache_read + input_cache_read_audio AS cached_tokens, ${outputParts.join(' + ')} AS output_tokens`;

type Row = Readonly<Record<string, SQLOutputValue>>;

/**
 * Follows the calls of the store, whoever has fed them: notes by which facet each is found, and sums them up. What it has made goes into the
 * store in one transaction with the place that it has come to. It begins with the oldest call, so an older store needs no step that takes long.
 */
export class FacetMaker {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #found: RowWriter;
  readonly #tagged: RowWriter;
  readonly #sums: SumTable;
  readonly #times: SumTable;
  readonly #writers: readonly { write(): void; drop(): void }[];
  #known = new Map<string, bigint>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#found = new RowWriter(database, 'faceted_calls (facet, trace_id)', 2, 'ON CONFLICT DO NOTHING');
    this.#tagged = new RowWriter(database, 'tagged_calls (tag, trace_id)', 2, 'ON CONFLICT DO NOTHING');
    this.#sums = new SumTable(database, 'facet_sums', ['facet'], facetSums);
    this.#times = new SumTable(database, 'ttft_sums', ['account_id', 'bucket'], ['calls']);
    this.#writers = [this.#found, this.#tagged, this.#sums, this.#times];
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
      this.#drop();
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
    for (const row of taken) this.#count(row, textOf(row['trace_id']));
    for (const writer of this.#writers) writer.write();
    this.#statements.done.run(JSON.stringify(taken.map((row) => textOf(row['trace_id']))));
    const last = behind.at(-1);
    if (last !== undefined) this.#statements.move.run(textOf(last['trace_id']));
    return Math.max(behind.length, due.length) === stepCalls;
  }

  /** The place is kept by trace id: `VACUUM` numbers rows anew, in their order. */
  #place(): bigint {
    return wholeOf(this.#statements.place.get()?.['place']);
  }

  #count(row: Row, traceId: string): void {
    const facet = this.#facetOf(row);
    this.#found.add(facet, traceId);
    if (row['tag'] !== null) this.#tagged.add(textOf(row['tag']), traceId);
    let [cost, unknown] = [0n, 0n];
    for (const { costNanoUsd } of readBooked(textOf(row['attempts']))) {
      if (costNanoUsd === null) unknown += 1n;
      else cost += costNanoUsd;
    }
    const { input_tokens, cached_tokens, output_tokens, charge_nano_usd } = row;
    const tokens = [input_tokens, cached_tokens, output_tokens].map((cell) => wholeOf(cell));
    const billed = row['reason'] === '' ? 1n : 0n;
    const good = row['status'] === 'complete' ? 1n : 0n;
    const hasFailed =
      failedStatuses.includes(textOf(row['status'])) && !callerFaults.includes(textOf(row['error_code']));
    const amounts = [
      1n,
      billed,
      good,
      hasFailed ? 1n : 0n,
      ...tokens,
      wholeOf(charge_nano_usd),
      cost,
      unknown,
    ];
    const hour = startOf(Number(row['started_at_ms']), spanMs.hour);
    this.#sums.add(hour, [facet], amounts);
    if (row['ttft_ms'] === null) return;
    const bucket = bucketOf(Number(row['ttft_ms']));
    this.#times.add(hour, [textOf(row['account_id']), bucket], [1n]);
    this.#times.add(hour, ['', bucket], [1n]);
  }

  #facetOf(row: Row): bigint {
    const cells = facetColumns.map((column) => textOf(row[column]));
    const name = JSON.stringify(cells);
    let facet = this.#known.get(name);
    if (facet === undefined) {
      this.#statements.addFacet.run(...cells);
      facet = wholeOf(this.#statements.facet.get(...cells)?.['id']);
      if (this.#known.size >= knownMax) this.#known.clear();
      this.#known.set(name, facet);
    }
    return facet;
  }

  #drop(): void {
    this.#known = new Map();
    for (const writer of this.#writers) writer.drop();
  }
}

interface Sum {
  readonly startMs: number;
  readonly identity: readonly Cell[];
  readonly amounts: bigint[];
}

/** Adds to rows of sums by hour and by day, each once for a transaction. */
class SumTable {
  readonly #rows: RowWriter;
  #hours = new Map<string, Sum>();

  constructor(database: DatabaseSync, table: string, identity: readonly string[], summed: readonly string[]) {
    const columns = ['span', 'start_ms', ...identity, ...summed];
    this.#rows = new RowWriter(
      database,
      `${table} (${columns.join(', ')})`,
      columns.length,
      `ON CONFLICT DO UPDATE SET ${summed.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
    );
  }

  add(hourMs: number, identity: readonly Cell[], amounts: readonly bigint[]): void {
    addTo(this.#hours, { startMs: hourMs, identity, amounts });
  }

  write(): void {
    const days = new Map<string, Sum>();
    for (const { startMs, identity, amounts } of this.#hours.values())
      addTo(days, { startMs: startOf(startMs, spanMs.day), identity, amounts });
    for (const [span, sums] of Object.entries({ hour: this.#hours, day: days }))
      for (const { startMs, identity, amounts } of sums.values())
        this.#rows.add(span, startMs, ...identity, ...amounts);
    this.#rows.write();
    this.drop();
  }

  drop(): void {
    this.#hours = new Map();
    this.#rows.drop();
  }
}

function addTo(
  sums: Map<string, Sum>,
  { startMs, identity, amounts }: Omit<Sum, 'amounts'> & { readonly amounts: readonly bigint[] },
): void {
  const name = `${startMs} ${identity.join(' ')}`;
  const sum = sums.get(name);
  if (sum === undefined) sums.set(name, { startMs, identity, amounts: [...amounts] });
  else
    for (let at = 0; at < amounts.length; at++)
      sum.amounts[at] = (sum.amounts[at] ?? 0n) + (amounts[at] ?? 0n);
}

function prepareStatements(database: DatabaseSync) {
  const cells = facetColumns.map(() => '?').join(', ');
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
    addFacet: database.prepare(
      `INSERT INTO facets (${facetColumns.join(', ')}) VALUES (${cells}) ON CONFLICT DO NOTHING`,
    ),
    facet: database.prepare(
      `SELECT id FROM facets WHERE ${facetColumns.map((column) => `${column} = ?`).join(' AND ')}`,
    ),
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
