import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Cell, callColumns, placeOf, usageColumns } from '../columns.ts';
import { unknownModel } from '../model-names.ts';
import type { Schema } from '../schema.ts';
import { archiveDirectory, readArchive } from './archive-file.ts';

/** A span of time in milliseconds since the epoch. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

const linesFunction = 'archived_lines';

/**
 * Teaches a connection to read archives: `archived_lines(id, text)` is a JSON array of the calls of a file, of which those may be left out
 * that do not contain the text. All that asks for archived calls does so in SQL, over rows that are like those of `calls`.
 */
export function teachArchives(database: DatabaseSync, file: string): void {
  const directory = archiveDirectory(file);
  // Pages of an export read one file several times. It never changes.
  let last: { readonly id: SQLOutputValue; readonly lines: readonly string[] } | null = null;
  database.function(linesFunction, { useBigIntArguments: true }, (id, text) => {
    if (last?.id !== id) {
      const row = database.prepare('SELECT name, calls, sha256 FROM archives WHERE id = ?').get(id);
      if (row === undefined) return '[]';
      const { name, calls, sha256 } = row;
      const archive = { name: String(name), calls: Number(calls), sha256: String(sha256) };
      last = { id, lines: readArchive(directory, archive) };
    }
    const { lines } = last;
    const wanted = text === '' ? lines : lines.filter((line) => line.includes(String(text)));
    return `[${wanted.join(',')}]`;
  });
}

/** The columns of `calls` that hold whole numbers. */
export const integerColumns: ReadonlySet<string> = new Set([
  ...['stream', 'started_at_ms', 'multiplier_ppm', ...usageColumns, 'charge_nano_usd', 'http_status'],
  ...['overhead_us', 'finished_at_ms'],
]);

const cells = callColumns.map((column, at) => {
  const cell = `line.value ->> ${at}`;
  return `${integerColumns.has(column) ? `cast(${cell} as integer)` : cell} as ${column}`;
});

const rows = sql.raw(`${cells.join(', ')}, null as run,
  case when line.value ->> ${placeOf('price_version')} is null and line.value ->> ${placeOf('attempts')} = '[]'
    then '${unknownModel}' else line.value ->> ${placeOf('model_requested')} end as model_summed`);

/** The archived calls of files that have any of these periods, as rows of `calls`. Calls of other times may be among them. */
export function archivedBetween(...periods: readonly Period[]): RawBuilder<unknown> {
  const isOfAny = periods.length === 0 ? sql`false` : sql.join(periods.map(overlaps), sql` or `);
  return sql`(select ${rows} from archives, json_each(${sql.raw(linesFunction)}(archives.id, '')) as line
    where ${isOfAny}) as calls`;
}

/** The cells of every call of a file. Throws `StoreUnusable` when it cannot be read. */
export function archivedLines(database: DatabaseSync, id: bigint): readonly (readonly Cell[])[] {
  const text = database.prepare(`SELECT ${linesFunction}(?, '') AS lines`).get(id)?.['lines'];
  // Only our own lines are there: the hash says so.
  return JSON.parse(String(text)) as readonly (readonly Cell[])[];
}

/** The calls of one file; those without the text may be left out. */
export function archivedIn(id: bigint, text = ''): RawBuilder<unknown> {
  return sql`(select ${rows} from json_each(${sql.raw(linesFunction)}(${id}, ${text})) as line) as calls`;
}

/** True of files that have calls of the period, or may have. */
export function overlaps({ fromMs, toMs }: Period): RawBuilder<unknown> {
  return sql`archives.from_ms < ${BigInt(toMs)} and archives.to_ms >= ${BigInt(fromMs)}`;
}

/** A file, and the calls that are in it. */
export interface Archive {
  readonly id: bigint;
  readonly first_trace: string;
  readonly last_trace: string;
  readonly from_ms: bigint;
  /** The latest beginning of a call in it. */
  readonly to_ms: bigint;
}

/** The files that this is true of, in this order. */
export async function archivesWhere(
  database: Kysely<Schema>,
  condition: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<readonly Archive[]> {
  const found = await sql<Archive>`select id, first_trace, last_trace, from_ms, to_ms from archives
    where ${condition} order by ${order}`.execute(database);
  return found.rows;
}

type Row = Readonly<Record<string, unknown>>;

/** The archived call of this trace id; undefined when there is none. */
export async function findArchived(database: Kysely<Schema>, traceId: string): Promise<Row | undefined> {
  const files = await archivesWhere(
    database,
    sql`first_trace <= ${traceId} and last_trace >= ${traceId}`,
    sql`id`,
  );
  for (const { id } of files) {
    const found =
      await sql<Row>`select * from ${archivedIn(id, traceId)} where trace_id = ${traceId}`.execute(database);
    if (found.rows[0] !== undefined) return found.rows[0];
  }
  return undefined;
}

/** The same for whoever has the connection itself. */
export function archivedFinder(database: DatabaseSync): (traceId: string) => Row | undefined {
  const files = database.prepare('SELECT id FROM archives WHERE first_trace <= ? AND last_trace >= ?');
  const find = database.prepare(`SELECT ${cells.join(', ')} FROM json_each(${linesFunction}(?, ?)) AS line
    WHERE line.value ->> ${placeOf('trace_id')} = ?`);
  return (traceId) => {
    for (const { id } of files.all(traceId, traceId)) {
      const row = find.get(id ?? null, traceId, traceId);
      if (row !== undefined) return row;
    }
    return undefined;
  };
}

/** A page of calls by trace id. */
export interface PageOfCalls {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The span of trace ids that it lies in. */
  readonly after: string;
  readonly before: string;
  /** When they began. */
  readonly period: Period;
  readonly where: RawBuilder<unknown>;
  /** All that are wanted contain it; empty where nothing is known of that. */
  readonly text: string;
}

/**
 * Adds the archived calls of a page to the stored ones, in order. Files may overlap each other and what is stored, because a call that ended late
 * is archived late; so a file is read unless the page is full of calls that come before all of its own.
 */
export async function withArchived(
  database: Kysely<Schema>,
  { order, limit, after, before, period, where, text }: PageOfCalls,
  stored: readonly Row[],
): Promise<readonly Row[]> {
  const isUp = order === 'asc';
  const files = await archivesWhere(
    database,
    sql`last_trace > ${after} and first_trace < ${before} and ${overlaps(period)}`,
    isUp ? sql`first_trace` : sql`last_trace desc`,
  );
  let page = stored;
  for (const { id, first_trace, last_trace } of files) {
    const last = page.length < limit ? undefined : String(page[limit - 1]?.['trace_id']);
    if (last !== undefined && (isUp ? first_trace > last : last_trace < last)) break;
    const found = await sql<Row>`select * from ${archivedIn(id, text)}
      where trace_id > ${after} and trace_id < ${before} and ${where}
      order by trace_id ${isUp ? sql`asc` : sql`desc`} limit ${limit}`.execute(database);
    page = [...page, ...found.rows].sort((a, b) => compare(a, b) * (isUp ? 1 : -1)).slice(0, limit);
  }
  return page;
}

function compare(one: Row, other: Row): number {
  return String(one['trace_id']) < String(other['trace_id']) ? -1 : 1;
}
