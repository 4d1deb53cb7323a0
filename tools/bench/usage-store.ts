import type { DatabaseSync } from 'node:sqlite';
import { nanoUsd } from '../../packages/gateway/src/money/money.ts';
import { callColumns, lineColumns, writeEntry } from '../../packages/gateway/src/store/columns.ts';
import { sampleEntry } from '../../packages/gateway/src/store/contract/samples.ts';
import { readLine } from '../../packages/gateway/src/store/lines.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite/database.ts';
import { makersOf } from '../../packages/gateway/src/store/sqlite/makers.ts';
import { migrate } from '../../packages/gateway/src/store/sqlite/migrations.ts';

/** Half of all calls are of this key. */
export const busyKey = 'busy';
/** One of a thousand others, which call now and then. */
export const quietKey = 'key-7';
/** A model that one call in a hundred thousand asks for. */
export const rareModel = 'model-rare';
export const usualModel = 'model-0';

const dayMs = 86_400_000;
/** The calls are spread over so many days before now. */
const daysBack = 120;
const chunk = 250_000;
const costOfCall = 5_000_000;

/** The values of columns that differ from call to call, as SQL of their number `n.i` and of a number `n.h` that looks like chance. */
const differing: Readonly<Record<string, string>> = {
  trace_id: `printf('%012x%020x', n.at_ms, n.i)`,
  key_id: `CASE WHEN n.i & 1 THEN '${busyKey}' ELSE 'key-' || ((((n.i >> 6) * 2654435761) >> 7) % 999) END`,
  model_requested: `CASE WHEN n.i % 100003 = 1 THEN '${rareModel}' ELSE 'model-' || ((n.h % 30) * ((n.h >> 9) % 30) / 30) END`,
  started_at_ms: 'n.at_ms',
  finished_at_ms: 'n.at_ms + 900',
  status: `CASE WHEN n.i % 50 = 7 THEN 'failed' WHEN n.i % 100 = 13 THEN 'timed_out' WHEN n.i % 200 = 21 THEN 'caller_gone'
    WHEN n.i % 1000003 = 5 THEN 'interrupted' ELSE 'complete' END`,
  unbilled_reason: `CASE WHEN n.i % 50 = 7 THEN 'upstream_failed' WHEN n.i % 100 = 13 THEN 'timed_out'
    WHEN n.i % 1000003 = 5 AND n.i % 200 <> 21 THEN 'interrupted' END`,
  input_fresh: 'n.h % 20000',
  input_cache_read: 'n.h % 90000',
  output: 'n.h % 3000',
  charge_nano_usd: `CASE WHEN n.i % 50 = 7 OR n.i % 100 = 13 THEN 0 ELSE 1000 + n.h % 9000000 END`,
};

/** Makes a store of so many calls, as quickly as SQL writes them: it is not durable until it is made, and its postings are left out. */
export function makeUsageStore(file: string, count: number, onProgress: (calls: number) => void): void {
  const database = openDatabase(file);
  migrate(database);
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000');
  // An index is made more quickly of rows that are there.
  const index = database.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'calls_by_key'`).get()?.['sql'];
  database.exec('DROP INDEX calls_by_key');
  const fill = fillerOf(database, count);
  for (let from = 0; from < count; from += chunk) {
    fill(from, Math.min(count, from + chunk));
    onProgress(Math.min(count, from + chunk));
  }
  database.exec(String(index));
  database.close();
  const finished = openDatabase(file);
  finished.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  finished.close();
}

/** Makes what the makers would make of the calls behind the feeder. */
export function makeSums(file: string): void {
  const database = openDatabase(file);
  const since = performance.now();
  let steps = 0;
  for (const maker of makersOf(database)) while (maker.step()) steps++;
  const seconds = (performance.now() - since) / 1000;
  if (steps > 0) console.log(`\rmade what calls are found by in ${seconds.toFixed(1)} s, ${steps} steps`);
  database.close();
}

function fillerOf(database: DatabaseSync, count: number): (from: number, to: number) => void {
  const entry = sampleEntry({ chargeNanoUsd: nanoUsd(1n), route: null });
  const { cells } = readLine(writeEntry(entry), lineColumns);
  const constant = callColumns.filter((column) => differing[column] === undefined);
  const values = callColumns.map((column) => differing[column] ?? `:${column}`);
  const [spanMs, beginMs] = [daysBack * dayMs, Date.now() - daysBack * dayMs];
  const insert = database.prepare(`WITH RECURSIVE
      counted (i) AS (SELECT :from UNION ALL SELECT i + 1 FROM counted WHERE i + 1 < :to),
      n AS (SELECT i, (i * 2654435761) % 4294967291 AS h, ${beginMs} + i * ${spanMs} / ${count} AS at_ms FROM counted)
    INSERT INTO calls (${callColumns.join(', ')}) SELECT ${values.join(', ')} FROM n`);
  const constants = Object.fromEntries(
    constant.map((column) => [column, cells[callColumns.indexOf(column)] ?? null]),
  );
  const sum = summerOf(database);
  return (from, to) => {
    database.exec('BEGIN');
    insert.run({ ...constants, from: BigInt(from), to: BigInt(to) });
    sum.run(BigInt(from), BigInt(to));
    database.exec('COMMIT');
  };
}

/** Sums up calls by the number of their rows, which begin with 1. */
function summerOf(database: DatabaseSync) {
  const known = database.prepare(`SELECT name FROM pragma_table_info('usage_slots')`).all();
  const identity: Readonly<Record<string, string>> = {
    key_id: 'key_id',
    slot_start_ms: 'started_at_ms - started_at_ms % 900000',
    model: 'model_requested',
    account_id: 'account_id',
    group_id: 'group_id',
  };
  const sums: Readonly<Record<string, string>> = {
    calls: 'count(*)',
    billed_calls: 'sum(unbilled_reason IS NULL)',
    cost_nano_usd: `count(*) * ${costOfCall}`,
    unknown_costs: '0',
  };
  const names = known.map(({ name }) => String(name));
  const summed = names.filter((name) => identity[name] === undefined);
  return database.prepare(`INSERT INTO usage_slots (${names.join(', ')})
    SELECT ${names.map((name) => identity[name] ?? sums[name] ?? `sum(${name})`).join(', ')}
    FROM calls WHERE rowid > ? AND rowid <= ? GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT DO UPDATE SET ${summed.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`);
}
