import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochMs } from '../contract/samples.ts';
import { SqlUsageReports, slotMs, spanMs } from '../reports.ts';
import { verifyLedger } from '../verify.ts';
import { openDatabase } from './database.ts';
import { openKysely } from './kysely.ts';
import { migrate } from './migrations.ts';
import { SpanMaker } from './usage-spans.ts';

/** The schema before there were longer sums than those by quarter of an hour. */
const versionBefore = 18;
const days = 40;

let database: DatabaseSync;

beforeEach(() => {
  database = openDatabase(':memory:');
  migrate(database, versionBefore);
  for (let at = 0; at < days * 96; at += 5) {
    add('key-1', epochMs + at * slotMs, 'alpha');
    if (at % 3 === 0) add('key-1', epochMs + at * slotMs, 'beta');
  }
  add('key-2', epochMs + 200 * spanMs.day, 'alpha');
});
afterEach(() => database.close());

/** Adds a call to a slot, as every version does. */
function add(keyId: string, slot: number, model: string): void {
  const columns = database.prepare(`SELECT name FROM pragma_table_info('usage_slots')`).all();
  const names = columns.map(({ name }) => String(name)).slice(5);
  database
    .prepare(
      `INSERT INTO usage_slots (key_id, slot_start_ms, model, account_id, group_id, ${names.join(', ')})
       VALUES (?, ?, ?, 'a', 'g', ${names.map((_, at) => at + 1).join(', ')})
       ON CONFLICT DO UPDATE SET ${names.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
    )
    .run(keyId, slot, model);
}

const dueCount = () => database.prepare('SELECT count(*) AS count FROM usage_spans_due').get()?.['count'];
const brokenSums = async () =>
  (await verifyLedger(database, openKysely(database))).findings.filter(({ rule }) =>
    rule.startsWith('longer-sums'),
  );

async function reportOf(keyId: string) {
  const reports = new SqlUsageReports(openKysely(database));
  const period = { fromMs: epochMs + 3 * slotMs, toMs: epochMs + 30 * spanMs.day + 7 * slotMs };
  const bounds = Array.from({ length: 31 }, (_, day) => epochMs + 3 * slotMs + day * spanMs.day);
  return {
    total: await reports.totals(keyId, null),
    series: await reports.series(keyId, bounds),
    models: await reports.byModel(keyId, period, 100, null),
  };
}

test('sums of an older store are made in steps, and reports are right before, between and after them', async () => {
  migrate(database);
  expect(dueCount()).toBe(2n);
  const before = await reportOf('key-1');
  expect(before.total.calls).toBe(1024);
  expect(before.series).toHaveLength(30);
  const maker = new SpanMaker(database);
  let steps = 0;
  do {
    expect(await reportOf('key-1')).toEqual(before);
    expect(await brokenSums()).toEqual([]);
    steps++;
  } while (maker.step());
  expect(await reportOf('key-1')).toEqual(before);
  expect(steps).toBeGreaterThan(days / 7);
  expect(dueCount()).toBe(0n);
  expect(await brokenSums()).toEqual([]);
});

test('what is fed while they are made counts once, whether its day was summed up before or is later', async () => {
  migrate(database);
  const maker = new SpanMaker(database);
  const fed = [
    epochMs + 5 * slotMs,
    epochMs + 7 * slotMs,
    epochMs + (days - 1) * spanMs.day,
    epochMs + 900 * spanMs.day,
  ];
  for (let isBehind = true; isBehind; isBehind = maker.step()) {
    for (const slot of fed) add('key-1', slot, 'alpha');
    add('key-3', epochMs, 'alpha');
  }
  for (const slot of fed) add('key-1', slot, 'gamma');
  expect(dueCount()).toBe(0n);
  expect(await brokenSums()).toEqual([]);
});
