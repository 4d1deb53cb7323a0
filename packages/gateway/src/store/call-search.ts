import { type Kysely, sql } from 'kysely';
import type { CallPage, CallQuery, CallSearch, CallTotals } from '../ports/call-search.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { archivedIn, archivesWhere, overlaps } from './archive/archived-calls.ts';
import { facetPasses, freshTraces, isBehind, passes, type Stretch, stretchOf } from './call-filter.ts';
import { afterAllTraces } from './call-reports.ts';
import { callTotals } from './call-totals.ts';
import { readRecord } from './columns.ts';
import { spanMs, startOf } from './reports.ts';
import type { Schema } from './schema.ts';

/** The newest calls of a filter's time are looked at one by one first: most filters let enough of them through. */
const firstLook = 2_000;
/** As long as calls have no facets yet, so many are looked at for a page; then it says how far it came. */
const lookMax = 30_000;
/** Facets that are looked up for a page. */
const facetsMax = 20_000;
/** Calls that are read for a page because of their tag or facet, and the rounds that takes. */
const [readMax, roundsMax] = [250, 12];
/** Archives that are read for a page. */
const filesMax = 3;

type Row = Readonly<Record<string, unknown>>;

/** Trace ids of calls that may pass, newest first; all that were not looked at come before `end`, which is null where all were. */
interface Candidates {
  readonly records: readonly LedgerRecord[];
  readonly end: string | null;
}

/**
 * Finds calls by their facets: a few thousand rows say which combinations of account, key, model and so on there are; of each that passes the
 * newest call is looked up, and only those that come first are read. So a filter costs the same whether it lets through many calls or none.
 */
export class SqlCallSearch implements CallSearch {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async page(query: CallQuery, limit: number, before: string | null): Promise<CallPage> {
    const stretch = stretchOf(query, before);
    const stored = await this.#stored(query, stretch, limit + 1);
    const found = await this.#withArchived(query, stretch, stored, limit + 1);
    const records = found.records.slice(0, limit);
    if (found.records.length > limit)
      return { records, next: records.at(-1)?.traceId ?? null, searchedToMs: null };
    const { end } = found;
    return { records, next: end, searchedToMs: end === null ? null : timeOf(end) };
  }

  totals(query: CallQuery): Promise<CallTotals> {
    return callTotals(this.#database, query);
  }

  async #stored(query: CallQuery, stretch: Stretch, count: number): Promise<Candidates> {
    const looked = await this.#look(query, stretch, firstLook);
    if (looked.traceIds.length >= count || looked.end === null)
      return { records: await this.#read(query, looked.traceIds.slice(0, count)), end: null };
    if (await isBehind(this.#database)) return this.#lookOn(query, stretch, count);
    const facets = query.tag === undefined ? await this.#facets(query) : [];
    if (facets === null) return this.#lookOn(query, stretch, count);
    return this.#collect(query, stretch, facets, count);
  }

  /** The newest so many calls, of which those are named that pass. */
  async #look(query: CallQuery, { after, before }: Stretch, count: number) {
    const { rows } = await sql<{
      trace_id: string;
      passes: bigint;
    }>`select trace_id, ${passes(query)} as passes from calls
      where trace_id >= ${after} and trace_id < ${before} order by trace_id desc limit ${count}`.execute(
      this.#database,
    );
    return {
      traceIds: rows.filter((row) => row.passes === 1n).map((row) => row.trace_id),
      end: rows.length < count ? null : (rows.at(-1)?.trace_id ?? null),
    };
  }

  async #lookOn(query: CallQuery, stretch: Stretch, count: number): Promise<Candidates> {
    const looked = await this.#look(query, stretch, lookMax);
    const isFull = looked.traceIds.length >= count;
    const records = await this.#read(query, looked.traceIds.slice(0, count));
    return { records, end: isFull ? null : looked.end };
  }

  /** The facets that calls of the filter may have; null where there are too many of them. */
  async #facets(query: CallQuery): Promise<readonly bigint[] | null> {
    const { rows } = await sql<{ id: bigint }>`select id from facets where ${facetPasses(query) ?? sql`true`}
      limit ${facetsMax + 1}`.execute(this.#database);
    return rows.length > facetsMax ? null : rows.map(({ id }) => id);
  }

  /** Reads what was found by facet or tag, and holds it against the whole filter: a facet does not know the moment. */
  async #collect(query: CallQuery, stretch: Stretch, facets: readonly bigint[], count: number) {
    const fresh = await this.#fresh(query, stretch, count);
    const records: LedgerRecord[] = [];
    let { before } = stretch;
    for (let round = 0; round < roundsMax; round++) {
      const traceIds = await this.#candidates(
        query,
        { ...stretch, before },
        facets,
        Math.max(count, readMax),
      );
      records.push(...(await this.#read(query, traceIds)));
      before = traceIds.at(-1) ?? stretch.after;
      const isThrough = traceIds.length < Math.max(count, readMax);
      if (isThrough || records.length >= count)
        return { records: newestOf([...fresh, ...records], count), end: null };
    }
    const known = fresh.filter(({ traceId }) => traceId >= before);
    return { records: newestOf([...known, ...records], count), end: before };
  }

  /** Calls that have not ended, or whose facets are still to be made. */
  async #fresh(
    query: CallQuery,
    { after, before }: Stretch,
    count: number,
  ): Promise<readonly LedgerRecord[]> {
    const { rows } =
      await sql<Row>`select calls.* from (${freshTraces}) as fresh cross join calls using (trace_id)
      where trace_id >= ${after} and trace_id < ${before} and ${passes(query)}
      order by trace_id desc limit ${count}`.execute(this.#database);
    return rows.map(readRecord);
  }

  /** The newest calls of a tag; or of some facets, of which only those can have them whose own newest calls are among the newest. */
  async #candidates(
    { tag }: CallQuery,
    { after, before }: Stretch,
    facets: readonly bigint[],
    count: number,
  ): Promise<readonly string[]> {
    const within = sql`trace_id >= ${after} and trace_id < ${before}`;
    const newest = sql`order by trace_id desc limit ${count}`;
    if (tag !== undefined) {
      const { rows } = await sql<{ trace_id: string }>`select trace_id from tagged_calls
        where tag = ${tag} and ${within} ${newest}`.execute(this.#database);
      return rows.map((row) => row.trace_id);
    }
    const { rows } = await sql<{ traces: string }>`
      select (select json_group_array(trace_id) from (
          select trace_id from faceted_calls where facet = heads.facet and ${within} ${newest})) as traces
      from (select value as facet,
          (select max(trace_id) from faceted_calls where facet = value and ${within}) as head
        from json_each(${JSON.stringify(facets.map(Number))}) order by head desc limit ${count}) as heads
      where head is not null`.execute(this.#database);
    const all = rows.flatMap(({ traces }) => JSON.parse(traces) as readonly string[]);
    return all.sort(descending).slice(0, count);
  }

  async #read(query: CallQuery, traceIds: readonly string[]): Promise<readonly LedgerRecord[]> {
    if (traceIds.length === 0) return [];
    const { rows } = await sql<Row>`select calls.*
      from json_each(${JSON.stringify(traceIds)}) as listed cross join calls on calls.trace_id = listed.value where ${passes(query)}
      order by trace_id desc`.execute(this.#database);
    return rows.map(readRecord);
  }

  /** Files may overlap each other and what is stored; a page reads a few of those that have days with such calls, newest first. */
  async #withArchived(
    query: CallQuery,
    { after, before }: Stretch,
    stored: Candidates,
    count: number,
  ): Promise<Candidates> {
    const fromTrace = stored.end ?? after;
    const isKnown = sql`exists (select 1 from facet_sums where span = 'day'
      and start_ms > archives.from_ms - ${spanMs.day} and start_ms <= archives.to_ms
      and facet in (select id from facets where ${facetPasses(query) ?? sql`true`}))`;
    const period = { fromMs: query.fromMs, toMs: query.toMs ?? Number.MAX_SAFE_INTEGER };
    const files = await archivesWhere(
      this.#database,
      sql`last_trace >= ${fromTrace} and first_trace < ${before} and ${overlaps(period)} and ${isKnown}`,
      sql`last_trace desc`,
    );
    let { records, end } = stored;
    for (const [read, { id, last_trace }] of files.entries()) {
      const last = records[count - 1]?.traceId;
      if (last !== undefined && last_trace < last) break;
      if (read === filesMax) {
        // All behind the newest call of the next file are known, and that one is not.
        end = `${last_trace}${afterAllTraces}`;
        records = records.filter(({ traceId }) => traceId > last_trace);
        break;
      }
      const { rows } = await sql<Row>`select * from ${archivedIn(id)}
        where trace_id >= ${fromTrace} and trace_id < ${before} and ${passes(query)}
        order by trace_id desc limit ${count}`.execute(this.#database);
      records = newestOf([...records, ...rows.map(readRecord)], count);
    }
    return { records, end };
  }
}

function newestOf(records: readonly LedgerRecord[], count: number): readonly LedgerRecord[] {
  const byTrace = new Map(records.map((record) => [record.traceId, record]));
  return [...byTrace.values()].sort((a, b) => descending(a.traceId, b.traceId)).slice(0, count);
}

function descending(one: string, other: string): number {
  return one < other ? 1 : -1;
}

/** Trace ids begin with their time. */
function timeOf(trace: string): number {
  return startOf(Number.parseInt(trace.slice(0, 12), 16) || 0, 1);
}
