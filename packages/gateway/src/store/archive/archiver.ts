import type { DatabaseSync } from 'node:sqlite';
import type { ArchiveStep } from '../../ports/store.ts';
import { StoreUnusable } from '../../ports/store.ts';
import { traceAt } from '../call-reports.ts';
import { type Cell, callColumns, placeOf } from '../columns.ts';
import { inTransaction } from '../sqlite/database.ts';
import { forgetFaceted } from '../sqlite/facet-maker.ts';
import { makersOf } from '../sqlite/makers.ts';
import { acquireArchiver } from '../sqlite/runs.ts';
import {
  archiveDirectory,
  archiveLine,
  removeUnfinished,
  type WrittenFile,
  writeArchive,
} from './archive-file.ts';

/** A file has so many calls at most, so that one of them is found quickly, and the transaction that takes them away is short. */
const callsMax = 5_000;
/** Characters of a file, before it is compressed. */
const charactersMax = 8 * 1024 * 1024;

const [traceAtCell, startedAtCell] = [placeOf('trace_id'), placeOf('started_at_ms')];

/**
 * Moves the oldest calls that began before a moment and have ended into a file, as many as fit. First the file is on the disk, and read
 * back; then one transaction names it and takes the rows away. Whenever that breaks off, the calls are in the store as they were, and the
 * next time writes the same file again. Null when there are no more.
 */
export function archiveStep(
  database: DatabaseSync,
  file: string,
  beforeMs: number,
  nowMs: number,
): ArchiveStep | null {
  const lock = acquireArchiver(file);
  if (lock === null)
    throw new StoreUnusable('another process is archiving calls of this store; one does at a time');
  try {
    const directory = archiveDirectory(file);
    removeUnfinished(directory);
    // Sums and facets that are still to be made are made of calls, which must be there.
    for (const maker of makersOf(database)) while (maker.step());
    const calls = oldest(database, beforeMs);
    const first = calls[0];
    if (first === undefined) return null;
    const day = new Date(Number(first.cells[startedAtCell])).toISOString().slice(0, 10);
    const name = `${day}-${String(first.cells[traceAtCell])}.ndjson.zst`;
    const written = writeArchive(
      directory,
      name,
      calls.map(({ line }) => line),
    );
    take(database, written, calls, nowMs);
    return { file: name, calls: written.calls, bytes: written.bytes };
  } finally {
    lock.close();
  }
}

interface OldCall {
  readonly cells: readonly Cell[];
  readonly line: string;
}

/** The newest row of all stays: followers tell by its place what is new. */
function oldest(database: DatabaseSync, beforeMs: number): readonly OldCall[] {
  const select = database.prepare(`SELECT ${callColumns.join(', ')} FROM calls
    WHERE trace_id < ? AND started_at_ms < ? AND status <> 'open' AND rowid < (SELECT max(rowid) FROM calls)
    ORDER BY trace_id LIMIT ${callsMax}`);
  const calls: OldCall[] = [];
  let characters = 0;
  for (const row of select.iterate(traceAt(beforeMs + 60_000), beforeMs)) {
    // The store gives back cells and nothing else.
    const cells = callColumns.map((column) => (row[column] ?? null) as Cell);
    const line = archiveLine(cells);
    calls.push({ cells, line });
    characters += line.length;
    if (characters >= charactersMax) break;
  }
  return calls;
}

function take(
  database: DatabaseSync,
  { name, calls: count, bytes, sha256 }: WrittenFile,
  calls: readonly OldCall[],
  nowMs: number,
): void {
  const traceIds = calls.map(({ cells }) => String(cells[traceAtCell]));
  const times = calls.map(({ cells }) => Number(cells[startedAtCell]));
  inTransaction(database, () => {
    database
      .prepare(`INSERT INTO archives (name, first_trace, last_trace, from_ms, to_ms, calls, bytes, sha256, archived_at_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(
        ...[name, traceIds[0] ?? '', traceIds.at(-1) ?? ''],
        ...[Math.min(...times), Math.max(...times), count, bytes, sha256, nowMs],
      );
    forgetFaceted(database, traceIds);
    const { changes } = database
      .prepare("DELETE FROM calls WHERE status <> 'open' AND trace_id IN (SELECT value FROM json_each(?))")
      .run(JSON.stringify(traceIds));
    if (Number(changes) !== count) throw new Error('calls that were archived are not in the store any more');
  });
}
