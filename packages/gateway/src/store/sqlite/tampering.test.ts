import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noTerms, noUsage } from '@headgate/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigurationWriter } from '../configuration.ts';
import { openJournalSite } from '../contract/journal-site.ts';
import { declaration, epochMs, sampleAttempt, sampleEntry, settle, traceId } from '../contract/samples.ts';
import { verifyLedger } from '../verify.ts';
import { openDatabase } from './database.ts';
import { openKysely } from './kysely.ts';
import { migrate } from './migrations.ts';

const clock = { now: () => epochMs, monotonic: () => 0 };
let site: ReturnType<typeof openJournalSite>;
let database: ReturnType<typeof openDatabase>;

beforeEach(async () => {
  site = openJournalSite({ clock });
  database = site.database;
  await new ConfigurationWriter(openKysely(database)).apply('file', declaration, epochMs);
  const attempts = [sampleAttempt(), sampleAttempt({ n: 2, channelId: 'channel-2', result: 'refused' })];
  await settle(site.ledger, sampleEntry({ attempts, tag: 'red' }));
  await settle(site.ledger, sampleEntry({ traceId: traceId(2), modelRequested: 'beta' }));
  const terms = { ...noTerms, size: '1024x1024', quality: 'high' };
  await settle(
    site.ledger,
    sampleEntry({ traceId: traceId(3), usage: { ...noUsage, images: 2 }, terms, attempts: [] }),
  );
  await site.feeder.catchUp();
});
afterEach(() => site.close());

const brokenRules = async () =>
  (await verifyLedger(database, openKysely(database))).findings.map((finding) => finding.rule);

const withoutTriggers = 'DROP TRIGGER postings_are_never_updated; DROP TRIGGER postings_are_never_deleted;';

const adjustment = "'adj-1', 'account-1', 5, 'gift', NULL, 'cli', 0";
const insertAdjustment = `INSERT INTO adjustments (id, account_id, amount_nano_usd, reason, reference, made_by, at_ms) VALUES (${adjustment})`;
const insertCredit =
  "INSERT INTO postings (debit, credit, amount_nano_usd, reference) VALUES ('credit', 'account:account-1', 5, 'adj-1')";

test.each([
  ['adjustment-is-posted-once', insertAdjustment],
  ['adjustment-is-posted-once', insertCredit],
  ['adjustment-is-posted-once', `${insertAdjustment}; ${insertCredit}; ${insertCredit}`],
  ['adjustment-is-posted-once', `${insertAdjustment}; ${insertCredit.replace(', 5,', ', 4,')}`],
  [
    'adjustment-is-posted-once',
    `${insertAdjustment}; ${insertCredit.replace("'credit', 'account:account-1'", "'account:account-1', 'credit'")}`,
  ],
  [
    'adjustment-is-posted-once',
    `${insertAdjustment}; ${insertCredit.replace('account:account-1', 'account:account-2')}`,
  ],
  ['charge-is-posted-once', `${withoutTriggers} DELETE FROM postings WHERE credit = 'revenue'`],
  ['charge-is-posted-once', "UPDATE calls SET account_id = 'account-2' WHERE rowid = 1"],
  ['charge-is-posted-once', 'UPDATE calls SET charge_nano_usd = charge_nano_usd + 1 WHERE rowid = 1'],
  ['charge-follows-its-price', "UPDATE calls SET price_version = 'model:gone@1' WHERE rowid = 1"],
  ['charge-follows-its-price', 'UPDATE calls SET output = output + 1 WHERE rowid = 1'],
  ['charge-follows-its-price', `UPDATE calls SET image_kind = '["1024x1024","low"]' WHERE images > 0`],
  ['charge-follows-its-price', 'UPDATE calls SET image_kind = NULL WHERE images > 0'],
  ['sums-agree-with-calls', 'UPDATE calls SET output = output + 1 WHERE rowid = 1'],
  ['sums-agree-with-calls', 'UPDATE usage_slots SET calls = calls + 1'],
  ['sums-agree-with-calls', 'DELETE FROM usage_slots'],
  ['longer-sums-agree-with-shorter', "UPDATE usage_spans SET calls = calls + 1 WHERE span = 'day'"],
  ['longer-sums-agree-with-shorter', "DELETE FROM usage_spans WHERE span = 'total'"],
  ['longer-sums-agree-with-shorter', "UPDATE usage_spans SET start_ms = start_ms + 1 WHERE span = 'hour'"],
  ['spend-agrees-with-calls', 'UPDATE spend_slots SET calls = calls + 1'],
  ['spend-agrees-with-calls', "DELETE FROM spend_slots WHERE kind = 'tag'"],
  ['spend-agrees-with-calls', "UPDATE calls SET tag = 'green' WHERE rowid = 1"],
  [
    'spend-agrees-with-calls',
    "INSERT INTO spend_slots VALUES ('tag', 0, 'key-1', 'blue', 'account-1', 0, 0, 0, 0, 0, 0, 0)",
  ],
  ['spend-agrees-with-calls', "UPDATE spend_slots SET name = 'pink' WHERE kind = 'tag'"],
  ['spending-agrees-with-sums', 'UPDATE spending SET charge_nano_usd = charge_nano_usd + 1'],
  ['spending-agrees-with-sums', "DELETE FROM spending WHERE subject = 'key:key-1'"],
  [
    'leases-belong-to-a-run',
    "INSERT INTO leases (subject, measure, run, outstanding) VALUES ('key:k', 'money', 999, 0)",
  ],
  [
    'leases-stay-within-limits',
    "INSERT INTO leases (subject, measure, run, outstanding, ceiling) SELECT 'key:k', 'money', id, 6, 5 FROM runs LIMIT 1",
  ],
  ['costs-are-posted-once', "UPDATE calls SET attempts = '[]' WHERE rowid = 1"],
  [
    'costs-are-posted-once',
    `${withoutTriggers} UPDATE postings SET amount_nano_usd = 1 WHERE debit LIKE 'expense:failed%'`,
  ],
  [
    'balance-is-fold-of-postings',
    "UPDATE balances SET balance_nano_usd = 0 WHERE ledger_account = 'revenue'",
  ],
  ['balance-is-fold-of-postings', "INSERT INTO balances VALUES ('account:ghost', 7)"],
  ['debits-equal-credits', "INSERT INTO balances VALUES ('account:ghost', 7)"],
  ['posting-has-a-call', "INSERT INTO postings VALUES (99, 'account:a', 'revenue', 1, 'nobody')"],
  ['only-served-calls-are-charged', "UPDATE calls SET status = 'failed' WHERE rowid = 1"],
  ['only-served-calls-are-charged', "UPDATE calls SET unbilled_reason = 'timed_out' WHERE rowid = 1"],
  ['unbilled-calls-have-a-reason', "UPDATE calls SET status = 'timed_out' WHERE rowid = 1"],
  ['every-line-is-taken', "INSERT INTO set_aside VALUES (1, 1, 0, 'no reason', 'E[]')"],
  ['open-calls-belong-to-a-run', "UPDATE calls SET status = 'open', run = 77 WHERE rowid = 1"],
  ['routes-can-be-read', 'UPDATE calls SET route = substr(route, 2) WHERE rowid = 1'],
])('finds a breach of %s after: %s', async (rule, sql) => {
  expect(await brokenRules()).toEqual([]);
  database.exec(sql);
  expect(await brokenRules()).toContain(rule);
});

test('finds a call that was charged nothing, even when everything else was made to agree', async () => {
  database.exec(`${withoutTriggers}
    UPDATE balances SET balance_nano_usd = 0 WHERE ledger_account LIKE 'account:%' OR ledger_account = 'revenue';
    DELETE FROM postings WHERE credit = 'revenue';
    UPDATE usage_slots SET charge_nano_usd = 0;
    UPDATE spend_slots SET charge_nano_usd = 0;
    UPDATE calls SET charge_nano_usd = 0`);
  expect(new Set(await brokenRules())).toEqual(new Set(['charge-follows-its-price']));
});

test.each([
  ['UPDATE postings SET amount_nano_usd = 1', /append-only/],
  ['DELETE FROM postings', /append-only/],
  ["UPDATE prices SET tiers = '[]'", /immutable/],
  ['DELETE FROM prices', /immutable/],
  ["INSERT INTO postings VALUES (99, 'a', 'b', -1, 'x')", /CHECK/],
  ['UPDATE calls SET charge_nano_usd = 0.5', /REAL/],
])('the file itself refuses: %s', (sql, reason) => {
  expect(() => database.exec(sql)).toThrow(reason);
});

test('a file of a newer Headgate is left alone', () => {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-newer-'));
  const newer = openDatabase(join(directory, 'headgate.sqlite'));
  newer.exec('PRAGMA user_version = 999');
  expect(() => migrate(newer)).toThrow(/newer/);
  expect(newer.prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  newer.close();
  rmSync(directory, { recursive: true });
});

test('attempts can be asked for as rows', () => {
  const rows = database.prepare(
    'SELECT trace_id, n, channel_id, result, cost_nano_usd FROM attempts ORDER BY 1, 2',
  );
  expect(rows.all()).toMatchObject([
    { trace_id: traceId(1), n: 1n, channel_id: 'channel-1', result: 'answered', cost_nano_usd: '5000000' },
    { trace_id: traceId(1), n: 2n, channel_id: 'channel-2', result: 'refused' },
    { trace_id: traceId(2), n: 1n },
  ]);
});
