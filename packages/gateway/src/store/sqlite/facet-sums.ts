import type { DatabaseSync } from 'node:sqlite';
import type { BookedAttempt } from '../../money/postings.ts';
import { bucketOf, callerFaults, facetColumns, facetSums, failedStatuses } from '../call-facets.ts';
import type { Cell } from '../columns.ts';
import { spanMs, startOf } from '../reports.ts';
import { RowWriter } from './row-writer.ts';

/** A call that has ended, as far as facets tell of it. */
export interface FacetedCall {
  readonly traceId: string;
  readonly facet: Readonly<Record<(typeof facetColumns)[number], string>>;
  readonly tag: string | null;
  readonly startedAtMs: number;
  readonly ttftMs: number | null;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly chargeNanoUsd: bigint;
  readonly attempts: readonly BookedAttempt[];
}

/** The sums of a facet in an hour. */
interface Sum {
  readonly startMs: number;
  readonly facet: bigint;
  calls: number;
  billed: number;
  good: number;
  failed: number;
  input: number;
  cached: number;
  output: number;
  charge: bigint;
  cost: bigint;
  unknownCosts: number;
}

/** Calls of an hour whose first content took about so long. */
interface Times {
  readonly startMs: number;
  readonly accountId: string;
  readonly bucket: number;
  calls: number;
}

/** Facets that are remembered by their cells. */
const knownMax = 50_000;

/** Notes by which facet each call is found, and sums them up. What was gathered is written once for a transaction. */
export class FacetSums {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #found: RowWriter;
  readonly #tagged: RowWriter;
  readonly #sumRows: RowWriter;
  readonly #timeRows: RowWriter;
  #known = new Map<string, bigint>();
  #sums = new Map<string, Sum>();
  #times = new Map<string, Times>();

  constructor(database: DatabaseSync) {
    this.#statements = prepareStatements(database);
    this.#found = new RowWriter(database, 'faceted_calls (facet, trace_id)', 2, 'ON CONFLICT DO NOTHING');
    this.#tagged = new RowWriter(database, 'tagged_calls (tag, trace_id)', 2, 'ON CONFLICT DO NOTHING');
    this.#sumRows = sumRows(database, 'facet_sums', ['facet'], facetSums);
    this.#timeRows = sumRows(database, 'ttft_sums', ['account_id', 'bucket'], ['calls']);
  }

  add(call: FacetedCall): void {
    const { traceId, tag, startedAtMs, ttftMs, facet: cells, attempts } = call;
    const facet = this.#facetOf(cells);
    this.#found.add(facet, traceId);
    if (tag !== null) this.#tagged.add(tag, traceId);
    const startMs = startOf(startedAtMs, spanMs.hour);
    const sum = this.#sumOf(startMs, facet);
    const { status, reason, error_code } = cells;
    sum.calls++;
    if (reason === '') sum.billed++;
    if (status === 'complete') sum.good++;
    if (failedStatuses.includes(status) && !callerFaults.includes(error_code)) sum.failed++;
    sum.input += call.inputTokens;
    sum.cached += call.cachedTokens;
    sum.output += call.outputTokens;
    sum.charge += call.chargeNanoUsd;
    for (const { costNanoUsd } of attempts) {
      if (costNanoUsd === null) sum.unknownCosts++;
      else sum.cost += costNanoUsd;
    }
    if (ttftMs === null) return;
    const bucket = bucketOf(ttftMs);
    this.#addTime(startMs, cells.account_id, bucket);
    this.#addTime(startMs, '', bucket);
  }

  write(): void {
    for (const { startMs, facet, ...sum } of this.#sums.values()) {
      const { calls, billed, good, failed, input, cached, output, charge, cost, unknownCosts } = sum;
      const cells = [
        ...[facet, calls, billed, good, failed],
        ...[input, cached, output, charge, cost, unknownCosts],
      ];
      addSpans(this.#sumRows, startMs, cells);
    }
    for (const { startMs, accountId, bucket, calls } of this.#times.values())
      addSpans(this.#timeRows, startMs, [accountId, bucket, calls]);
    for (const rows of [this.#found, this.#tagged, this.#sumRows, this.#timeRows]) rows.write();
    this.#sums = new Map();
    this.#times = new Map();
  }

  /** Forgets what was gathered; and facets, which the same transaction may have added. */
  drop(): void {
    this.#known = new Map();
    this.#sums = new Map();
    this.#times = new Map();
    for (const rows of [this.#found, this.#tagged, this.#sumRows, this.#timeRows]) rows.drop();
  }

  #facetOf(cells: FacetedCall['facet']): bigint {
    const { account_id, key_id, group_id, surface, model, channel_id, status, reason, error_code } = cells;
    const name = `${account_id}\n${key_id}\n${group_id}\n${surface}\n${model}\n${channel_id}\n${status}\n${reason}\n${error_code}`;
    let facet = this.#known.get(name);
    if (facet === undefined) {
      const values = facetColumns.map((column) => cells[column]);
      this.#statements.addFacet.run(...values);
      const id = this.#statements.facet.get(...values)?.['id'];
      facet = typeof id === 'bigint' ? id : 0n;
      if (this.#known.size >= knownMax) this.#known.clear();
      this.#known.set(name, facet);
    }
    return facet;
  }

  #sumOf(startMs: number, facet: bigint): Sum {
    const place = `${startMs} ${facet}`;
    let sum = this.#sums.get(place);
    if (sum === undefined) {
      sum = {
        ...{ startMs, facet, calls: 0, billed: 0, good: 0, failed: 0 },
        ...{ input: 0, cached: 0, output: 0, charge: 0n, cost: 0n, unknownCosts: 0 },
      };
      this.#sums.set(place, sum);
    }
    return sum;
  }

  #addTime(startMs: number, accountId: string, bucket: number): void {
    const place = `${startMs} ${bucket} ${accountId}`;
    const known = this.#times.get(place);
    if (known === undefined) this.#times.set(place, { startMs, accountId, bucket, calls: 1 });
    else known.calls++;
  }
}

/** Adds to rows of sums by hour and by day. */
function sumRows(
  database: DatabaseSync,
  table: string,
  identity: readonly string[],
  summed: readonly string[],
): RowWriter {
  const columns = ['span', 'start_ms', ...identity, ...summed];
  return new RowWriter(
    database,
    `${table} (${columns.join(', ')})`,
    columns.length,
    `ON CONFLICT DO UPDATE SET ${summed.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
  );
}

function addSpans(rows: RowWriter, hourMs: number, cells: readonly Cell[]): void {
  rows.add('hour', hourMs, ...cells);
  rows.add('day', startOf(hourMs, spanMs.day), ...cells);
}

function prepareStatements(database: DatabaseSync) {
  const cells = facetColumns.map(() => '?').join(', ');
  return {
    addFacet: database.prepare(
      `INSERT INTO facets (${facetColumns.join(', ')}) VALUES (${cells}) ON CONFLICT DO NOTHING`,
    ),
    facet: database.prepare(
      `SELECT id FROM facets WHERE ${facetColumns.map((column) => `${column} = ?`).join(' AND ')}`,
    ),
  };
}
