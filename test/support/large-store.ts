import { lineColumns, writeEntry } from '../../packages/gateway/src/store/columns.ts';
import { sampleEntry } from '../../packages/gateway/src/store/contract/samples.ts';
import { Books } from '../../packages/gateway/src/store/sqlite/books.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite/database.ts';
import { migrate } from '../../packages/gateway/src/store/sqlite/migrations.ts';

const daysBack = 90;
const linesPerPassage = 2_000;

/** Makes a store of so many calls of the last ninety days, half of them of this key, as the feeder writes them. */
export function fillStore(file: string, keyId: string, count: number): void {
  const database = openDatabase(file);
  migrate(database);
  database.exec('INSERT INTO runs (id, started_at_ms, fed) VALUES (1, 0, 0)');
  const books = new Books(database);
  const spanMs = daysBack * 86_400_000;
  const beginMs = Date.now() - spanMs;
  const lineOf = (at: number): string => {
    const startedAtMs = Math.floor(beginMs + (spanMs * at) / count);
    const traceId = startedAtMs.toString(16).padStart(12, '0') + at.toString(16).padStart(20, '0');
    return writeEntry(
      sampleEntry({
        traceId,
        startedAtMs,
        finishedAtMs: startedAtMs + 1000,
        keyId: at % 2 === 0 ? keyId : `key-${at % 20}`,
        modelRequested: at % 3 === 0 ? 'alpha' : 'beta',
      }),
    );
  };
  for (let from = 0; from < count; from += linesPerPassage) {
    const length = Math.min(linesPerPassage, count - from);
    const lines = Array.from({ length }, (_, at) => lineOf(from + at));
    const passage = { lines, columns: lineColumns, end: from + length, segment: 0 };
    books.take(passage, { run: 1n, from, fedAtMs: null }, false);
  }
  database.exec('DELETE FROM runs');
  database.close();
}
