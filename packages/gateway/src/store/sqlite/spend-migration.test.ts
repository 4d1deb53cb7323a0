import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqlCallReports, traceAt } from '../call-reports.ts';
import { callColumns, lineColumns, usageColumns, writeEntry } from '../columns.ts';
import { epochMs, sampleAttempt, sampleEntry } from '../contract/samples.ts';
import { readLine } from '../lines.ts';
import { slotMs } from '../reports.ts';
import { verifyLedger } from '../verify.ts';
import { openDatabase } from './database.ts';
import { openKysely } from './kysely.ts';
import { migrate } from './migrations.ts';
import { SpendMaker } from './spend-migration.ts';

/** The schema before there were sums by channel. */
const versionBefore = 20;
const slots = 300;

let database: DatabaseSync;

beforeEach(() => {
  database = openDatabase(':memory:');
  migrate(database, versionBefore);
  for (let at = 0; at < slots; at++) feed(at, `key-${at % 2}`, at);
});
afterEach(() => database.close());

/** Stores a call and adds it to the sums of a quarter of an hour, as a feeder does that knows no sums by channel. */
function feed(number: number, keyId: string, slot: number): void {
  const known = database.prepare("SELECT name FROM pragma_table_info('calls')").all();
  const columns = callColumns.filter((column) => known.some(({ name }) => name === column));
  const startedAtMs = epochMs + slot * slotMs + 5;
  const attempts = [sampleAttempt({ channelId: `channel-${number % 3}` }), sampleAttempt({ n: 2 })];
  const entry = sampleEntry({
    ...{
      traceId: `${traceAt(startedAtMs).slice(0, 12)}${String(number).padStart(20, '0')}`,
      keyId,
      startedAtMs,
      attempts,
    },
    channelId: `channel-${number % 3}`,
  });
  const { cells } = readLine(writeEntry(entry), lineColumns);
  database
    .prepare(`INSERT INTO calls (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
    .run(...columns.map((column) => cells[callColumns.indexOf(column)] ?? null));
  const sums = ['calls', 'billed_calls', ...usageColumns, 'charge_nano_usd', 'cost_nano_usd'];
  database
    .prepare(
      `INSERT INTO usage_slots (key_id, slot_start_ms, model, account_id, group_id, ${sums.join(', ')})
       SELECT key_id, started_at_ms - started_at_ms % ${slotMs}, model_summed, account_id, group_id, 1, 1,
         ${usageColumns.join(', ')}, charge_nano_usd,
         (SELECT sum(cast(attempt.value ->> 10 AS INTEGER)) FROM json_each(attempts) AS attempt)
       FROM calls WHERE trace_id = ?
       ON CONFLICT DO UPDATE SET ${sums.map((sum) => `${sum} = ${sum} + excluded.${sum}`).join(', ')}`,
    )
    .run(entry.traceId);
}

const count = (table: string) => database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'];
const period = { fromMs: epochMs - slotMs, toMs: epochMs + 1_000 * slotMs };
const report = () => new SqlCallReports(openKysely(database)).spend('channel', period);
const brokenSums = async () =>
  (await verifyLedger(database, openKysely(database))).findings.filter(({ rule }) => /sums|spend/.test(rule));

test('sums by channel of an older store are made in steps, and reports are right before, between and after them', async () => {
  migrate(database);
  expect([count('spend_slots'), count('spend_slots_due')]).toEqual([0n, 2n]);
  const before = await report();
  expect(before.reduce((sum, { calls }) => sum + calls, 0)).toBe(slots);
  const maker = new SpendMaker(database);
  while (maker.step()) {
    expect(await report()).toEqual(before);
    expect(await brokenSums()).toEqual([]);
  }
  expect(count('spend_slots_due')).toBe(0n);
  expect(await report()).toEqual(before);
  expect(await brokenSums()).toEqual([]);
});

test('what a feeder of an older version adds meanwhile or later counts once', async () => {
  migrate(database);
  const maker = new SpendMaker(database);
  for (let number = slots; maker.step(); number++)
    if (number < slots + 6) feed(number, `key-${number % 3}`, number % 5);
  feed(slots + 7, 'key-0', 3);
  expect(count('spend_slots_due')).toBe(1n);
  const before = await report();
  while (maker.step());
  expect(await report()).toEqual(before);
  expect(await brokenSums()).toEqual([]);
});
