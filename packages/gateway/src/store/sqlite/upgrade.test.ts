import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { noUsage } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { zeroNanoUsd } from '../../money/money.ts';
import { callColumns, lineColumns, writeEntry, writeOpen } from '../columns.ts';
import { epochMs, sampleEntry, settle, traceId } from '../contract/samples.ts';
import { readLine } from '../lines.ts';
import { openDatabase } from './database.ts';
import { firstStepsCount } from './first-steps.ts';
import { migrate, newestVersion, stepByStep } from './migrations.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { SameThreadLane } from './same-thread-lane.ts';

const clock = { now: Date.now, monotonic: () => performance.now() };

/** The schema before there were journals. */
const versionBefore = 6;

const ended = sampleEntry({
  status: 'failed',
  unbilledReason: 'upstream_failed',
  chargeNanoUsd: zeroNanoUsd,
  usage: noUsage,
  attempts: [],
});

const unknown = sampleEntry({ ...ended, traceId: traceId(4), modelRequested: 'made-up', priceVersion: null });

/** A store as the version before leaves it: a call that has ended, and one that was open when its process died. */
function makeStoreOfBefore(file: string): void {
  const database = openDatabase(file);
  migrate(database, versionBefore);
  const known = database.prepare("SELECT name FROM pragma_table_info('calls')").all();
  const columns = callColumns.filter((column) => known.some(({ name }) => name === column));
  const insert = database.prepare(
    `INSERT INTO calls (${columns.join(', ')}, run) VALUES (${columns.map(() => '?').join(', ')}, ?)`,
  );
  const cellsOf = (line: string) => {
    const { cells } = readLine(line, lineColumns);
    return columns.map((column) => cells[callColumns.indexOf(column)] ?? null);
  };
  insert.run(...cellsOf(writeEntry(ended)), null);
  insert.run(...cellsOf(writeEntry(unknown)), null);
  insert.run(...cellsOf(writeOpen({ ...ended, traceId: traceId(2) })), 1);
  database.exec(`INSERT INTO runs (id, started_at_ms) VALUES (1, 0);
    INSERT INTO usage_slots SELECT key_id, started_at_ms, model_requested, account_id, group_id, 1, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM calls WHERE status <> 'open'`);
  database.close();
}

test('a store of the version before goes on: nothing is lost, and its dead are found', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-upgrade-'));
  const file = join(directory, 'headgate.sqlite');
  makeStoreOfBefore(file);
  const store = await openSqliteStore({
    file,
    durability: 'strict',
    clock,
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  expect(await store.recover(() => undefined)).toEqual({ lines: 0, interrupted: 1, damage: null });
  expect(await settle(store.ledger, { ...ended, traceId: traceId(3) })).toBe('settled');
  const entries = await Array.fromAsync(store.exportEntries({}));
  expect(entries).toMatchObject([
    ended,
    { traceId: traceId(2), status: 'interrupted' },
    { traceId: traceId(3) },
    unknown,
  ]);
  const readModels = async () => {
    const { models } = await store.reports.byModel(ended.keyId, { fromMs: 0, toMs: 2 * epochMs }, 10, null);
    return models.map(({ model, totals }) => [model, totals.calls]);
  };
  const models = [
    ['(unknown)', 1],
    ['alpha', 3],
  ];
  expect(await readModels()).toEqual(models);
  // Longer sums of what was there are made while nothing else is to do.
  using looker = openDatabase(file);
  const due = () => looker.prepare('SELECT count(*) AS count FROM usage_spans_due').get()?.['count'];
  await expect.poll(due).toBe(0n);
  expect(await readModels()).toEqual(models);
  expect((await store.verify()).findings).toEqual([]);
  await store.close();
  rmSync(directory, { recursive: true });
});

test.each([firstStepsCount, newestVersion])('a new store is what %i steps make one by one', (version) => {
  const atOnce = openDatabase(':memory:');
  migrate(atOnce, version);
  const oneByOne = openDatabase(':memory:');
  stepByStep(oneByOne, version);
  const told = (database: DatabaseSync) => ({
    version: database.prepare('PRAGMA user_version').get(),
    made: database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all(),
    rows: database.prepare('SELECT name, value FROM meta ORDER BY name').all(),
  });
  expect(told(atOnce)).toEqual(told(oneByOne));
  const tables = told(atOnce).made.filter(({ type }) => type === 'table');
  for (const { name } of tables.filter((table) => table['name'] !== 'meta'))
    expect(oneByOne.prepare(`SELECT * FROM "${name}"`).all(), `rows that a step puts into ${name}`).toEqual(
      [],
    );
  atOnce.close();
  oneByOne.close();
});
