import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { spendDimensions } from '../../ports/call-reports.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import { type LedgerAlarm, type Store, StoreUnusable } from '../../ports/store.ts';
import type { UsageEntry, UsageFilter, UsagePage, UsagePlace } from '../../ports/usage-report.ts';
import { callColumns } from '../columns.ts';
import {
  anyEntry,
  declaration,
  epochMs,
  openingOf,
  sampleEntry,
  settle,
  traceId,
} from '../contract/samples.ts';
import { openDatabase } from '../sqlite/database.ts';
import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';
import { acquireArchiver } from '../sqlite/runs.ts';
import { SameThreadLane } from '../sqlite/same-thread-lane.ts';
import { archiveDirectory } from './archive-file.ts';

let directory: string;
let file: string;
let store: Store;
let alarms: LedgerAlarm[];

function open(): Promise<Store> {
  return openSqliteStore({
    file,
    durability: 'strict',
    clock: { now: Date.now, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: (alarm) => alarms.push(alarm),
  });
}

beforeEach(async () => {
  alarms = [];
  directory = mkdtempSync(join(tmpdir(), 'headgate-archive-'));
  file = join(directory, 'headgate.sqlite');
  store = await open();
  await store.configuration.apply('file', declaration, epochMs);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const dayMs = 86_400_000;
/** Half of the sampled calls begin before it. */
const halfMs = epochMs + 50_000_000;

/** Trace ids begin with their time, as those of a gateway do. */
function timed(call: CallEntry, at: number): CallEntry {
  return { ...call, traceId: call.startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12) };
}

async function settleAll(entries: readonly CallEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => settle(store.ledger, entry)));
  await store.catchUp();
}

const sampled = (count = 120) => fc.sample(anyEntry, { numRuns: count, seed: 5 }).map(timed);

async function archiveAll(beforeMs: number): Promise<number> {
  let calls = 0;
  for (let step = await store.archive(beforeMs); step !== null; step = await store.archive(beforeMs))
    calls += step.calls;
  return calls;
}

/** All that operators and owners can ask, about all times and about parts of quarters of an hour. */
async function answers(beforeMs = epochMs + 3 * dayMs) {
  const periods = [
    { fromMs: 0 },
    { fromMs: epochMs + 12_345_678, toMs: epochMs + 77_777_777 },
    { fromMs: halfMs - 99 },
  ];
  const spent = [];
  for (const by of spendDimensions)
    for (const period of periods)
      spent.push(
        await store.calls.spend(by, period),
        await store.calls.spend(by, { ...period, billed: true }),
      );
  const lists = [];
  for (const filter of [{}, { keyId: 'key-1' }, { tag: 'red' }, { model: 'beta', billed: true }]) {
    const whole = await store.calls.list({ fromMs: 0, ...filter }, 1_000, null);
    lists.push(whole, await store.calls.list({ fromMs: epochMs, ...filter }, 7, whole[40]?.traceId ?? null));
  }
  const everything = await Array.fromAsync(store.exportEntries({}));
  return {
    spent,
    lists,
    everything,
    parts: await Array.fromAsync(
      store.exportEntries({ keyId: 'key-2', fromMs: epochMs + 1_000, toMs: halfMs + 5_000_000 }),
    ),
    single: await Promise.all(everything.slice(0, 20).map((call) => store.findEntry(call.traceId))),
    ending: await store.calls.endingIn(everything[3]?.traceId.slice(-8) ?? '', 0),
    totals: await store.reports.totals('key-1', null),
    ofPart: await store.reports.totals('key-1', { fromMs: epochMs + 5_000_001, toMs: halfMs + 7 }),
    pages: await pagesOf({}, 7, beforeMs),
    filtered: await pagesOf({ model: 'alpha', billed: true }, 3, beforeMs),
    ofKey: await Promise.all(everything.slice(0, 9).map((call) => store.reports.find('key-1', call.traceId))),
    verification: await store.verify(),
  };
}

/** Every page of a key, each entry once; how often looking was given up may differ. */
async function pagesOf(filter: UsageFilter, limit: number, toMs: number) {
  const entries: UsageEntry[] = [];
  let place: UsagePlace | null = null;
  do {
    const page: UsagePage = await store.reports.page(
      'key-1',
      { fromMs: epochMs, toMs },
      filter,
      limit,
      place,
    );
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    if (page.entries.length < limit && page.next !== null) expect(page.searchedToMs).toBe(page.next.atMs);
    entries.push(...page.entries);
    place = page.next;
  } while (place !== null);
  return entries;
}

test('what is archived answers every question as it did in the store, and the ledger is sound with it', async () => {
  const calls = sampled();
  await settleAll(calls);
  const before = await answers();
  expect(before.verification.findings).toEqual([]);
  const old = calls.filter(({ startedAtMs }) => startedAtMs < halfMs).length;
  expect(await archiveAll(halfMs)).toBe(old);
  expect(await answers()).toEqual(before);
  // Another time takes what has come to be old, and nothing else.
  expect(await archiveAll(halfMs)).toBe(0);
  const newest = 1;
  expect(await archiveAll(epochMs + 3 * dayMs)).toBe(calls.length - old - newest);
  expect(await answers()).toEqual(before);
  const database = openDatabase(file);
  expect(database.prepare('SELECT count(*) AS calls FROM calls').get()).toEqual({ calls: 1n });
  database.close();
  await store.close();
  store = await open();
  expect(await answers()).toEqual(before);
});

test('a call that ends late is archived late, and files may overlap', async () => {
  const calls = sampled();
  const late = calls.filter((_, at) => at % 10 === 0);
  for (const call of late) store.ledger.open(openingOf(call));
  await settleAll(calls.filter((call) => !late.includes(call)));
  await archiveAll(halfMs);
  await settleAll(late);
  const before = await answers();
  expect(before.verification.findings).toEqual([]);
  expect(before.everything.map((call) => call.traceId)).toEqual(calls.map((call) => call.traceId).toSorted());
  expect(await archiveAll(epochMs + 3 * dayMs)).toBeGreaterThan(late.length / 3);
  expect(await answers()).toEqual(before);
});

test('pages go through more files than one of them reads', async () => {
  const calls = sampled(300);
  await settleAll(calls);
  const before = await answers();
  // A file for every few calls, of which some are of the key.
  const times = calls.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b);
  for (let at = 5; at < times.length; at += 5) await archiveAll(times[at] ?? 0);
  expect(archives().length).toBeGreaterThan(50);
  expect(await answers()).toEqual(before);
});

test('calls under way and the newest one stay', async () => {
  store.ledger.open(openingOf(sampleEntry({ traceId: traceId(1) })));
  await settleAll([sampleEntry({ traceId: traceId(2) }), sampleEntry({ traceId: traceId(3) })]);
  expect(await archiveAll(epochMs + dayMs)).toBe(1);
  expect((await Array.fromAsync(store.exportEntries({}))).map(({ status }) => status)).toEqual([
    'open',
    'complete',
    'complete',
  ]);
  expect((await store.verify()).counts).toMatchObject({ calls: 3, open: 1 });
});

test('an archived call that is settled once more changes nothing, and another one of its id is set aside', async () => {
  await settleAll([sampleEntry(), sampleEntry({ traceId: traceId(2) })]);
  expect(await archiveAll(epochMs + dayMs)).toBe(1);
  await settleAll([sampleEntry()]);
  expect(alarms).toEqual([]);
  expect((await store.verify()).findings).toEqual([]);
  await settleAll([sampleEntry({ httpStatus: 201 })]);
  expect(alarms).toMatchObject([{ kind: 'conflict', traceId: traceId(1) }]);
  expect((await store.verify()).findings.map(({ rule }) => rule)).toEqual(['every-line-is-taken']);
  expect(await Array.fromAsync(store.exportEntries({}))).toHaveLength(2);
});

function archives(): readonly string[] {
  return readdirSync(archiveDirectory(file)).map((name) => join(archiveDirectory(file), name));
}

const damages: readonly (readonly [string, (path: string) => void, RegExp])[] = [
  ['is gone', (path) => renameSync(path, `${path}.away`), /archive .*\.ndjson\.zst is missing; put it back/],
  [
    'is cut',
    (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
    /\.ndjson\.zst is not what was written/,
  ],
  [
    'has a bit turned',
    (path) =>
      writeFileSync(
        path,
        readFileSync(path).map((byte, at) => (at === 40 ? byte ^ 1 : byte)),
      ),
    /is not what was written: its SHA-256/,
  ],
  [
    'is another one, well made',
    (path) =>
      writeFileSync(
        path,
        zstdCompressSync(zstdDecompressSync(readFileSync(path)).toString().replace('alpha', 'omega')),
      ),
    /is not what was written/,
  ],
];

test.each(damages)(
  'a file that %s is named by whoever needs it, and by no one else',
  async (_name, damage, message) => {
    await settleAll([1, 2, 3].map((number) => sampleEntry({ traceId: traceId(number) })));
    await archiveAll(epochMs + dayMs);
    await store.close();
    for (const path of archives()) damage(path);
    store = await open();
    const { findings } = await store.verify();
    expect(findings.map(({ rule }) => rule)).toEqual(['archives-can-be-read']);
    expect(findings[0]?.detail).toMatch(message);
    await expect(store.findEntry(traceId(1))).rejects.toThrow(message);
    await expect(store.findEntry(traceId(1))).rejects.toThrow(StoreUnusable);
    await expect(Array.fromAsync(store.exportEntries({}))).rejects.toThrow(message);
    // What is in the store is found without it, and calls go on.
    expect(await store.findEntry(traceId(3))).toMatchObject({ status: 'complete' });
    await settleAll([sampleEntry({ traceId: traceId(9) })]);
    expect(await store.calls.list({ fromMs: 0 }, 2, null)).toHaveLength(2);
    expect((await store.reports.totals('key-1', null)).calls).toBe(4);
  },
);

test('a file that a newer version of the store was not told of does no harm, nor does one that was never finished', async () => {
  await settleAll([1, 2, 3].map((number) => sampleEntry({ traceId: traceId(number) })));
  await archiveAll(epochMs + dayMs);
  const [path = ''] = archives();
  // A kill between the rename and the transaction leaves a file that nobody knows, and one in the middle of writing half of one.
  const database = openDatabase(file);
  database.exec('DELETE FROM archives');
  const lines = zstdDecompressSync(readFileSync(path)).toString().trimEnd().split('\n').slice(1);
  const insert = database.prepare(
    `INSERT INTO calls (${callColumns.join(', ')}) VALUES (${callColumns.map(() => '?').join(', ')})`,
  );
  for (const line of lines) insert.run(...(JSON.parse(line) as (string | number | null)[]));
  database.exec("UPDATE calls SET rowid = 99 WHERE trace_id LIKE '%3'");
  database.close();
  writeFileSync(`${path}.unfinished`, 'half');
  expect((await store.verify()).findings).toEqual([]);
  const whole = readFileSync(path);
  expect(await archiveAll(epochMs + dayMs)).toBe(2);
  expect(archives()).toEqual([path]);
  expect(readFileSync(path)).toEqual(whole);
  expect((await store.verify()).findings).toEqual([]);
});

test('where no file can be written, or another process is writing them, nothing is moved and it is said why', async () => {
  await settleAll([1, 2, 3].map((number) => sampleEntry({ traceId: traceId(number) })));
  writeFileSync(archiveDirectory(file), 'no folder');
  await expect(archiveAll(epochMs + dayMs)).rejects.toThrow(
    /^the archive .*\.ndjson\.zst cannot be written: Error: E/,
  );
  await expect(archiveAll(epochMs + dayMs)).rejects.toThrow(StoreUnusable);
  rmSync(archiveDirectory(file));
  const lock = acquireArchiver(file);
  await expect(archiveAll(epochMs + dayMs)).rejects.toThrow('another process is archiving');
  lock?.close();
  expect(await Array.fromAsync(store.exportEntries({}))).toHaveLength(3);
  expect(await archiveAll(epochMs + dayMs)).toBe(2);
  expect((await store.verify()).findings).toEqual([]);
});

test('archives of a version that knew fewer columns can be read', async () => {
  await settleAll([sampleEntry({ tag: 'red' }), sampleEntry({ traceId: traceId(2) })]);
  await archiveAll(epochMs + dayMs);
  await store.close();
  const [path = ''] = archives();
  const [head = '', ...lines] = zstdDecompressSync(readFileSync(path)).toString().trimEnd().split('\n');
  const { columns } = JSON.parse(head) as { columns: readonly string[] };
  const isKnown = (_: unknown, at: number) => !['tag', 'pages', 'terms'].includes(columns[at] ?? '');
  const older = [
    JSON.stringify({ format: 1, columns: columns.filter(isKnown) }),
    ...lines.map((line) => JSON.stringify((JSON.parse(line) as unknown[]).filter(isKnown))),
    '',
  ];
  const bytes = zstdCompressSync(older.join('\n'));
  writeFileSync(path, bytes);
  const database = openDatabase(file);
  database.prepare('UPDATE archives SET sha256 = ?').run(await hashOf(bytes));
  database.exec("UPDATE calls SET tag = NULL; DELETE FROM spend_slots WHERE kind = 'tag'");
  database.close();
  store = await open();
  expect(await store.findEntry(traceId(1))).toEqual(sampleEntry());
  expect((await store.verify()).findings).toEqual([]);
});

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

test('what has been tampered with in the store is found beside archives too', async () => {
  await settleAll([1, 2, 3].map((number) => sampleEntry({ traceId: traceId(number), tag: 'red' })));
  await archiveAll(epochMs + dayMs);
  const database = openDatabase(file);
  const brokenBy = async (change: string) => {
    database.exec(`BEGIN; ${change}; COMMIT`);
    return (await store.verify()).findings.map(({ rule }) => rule);
  };
  expect(await brokenBy('UPDATE usage_slots SET calls = calls + 1')).toContain('sums-agree-with-calls');
  expect(await brokenBy('UPDATE usage_slots SET calls = calls - 1')).toEqual([]);
  expect(await brokenBy('UPDATE spend_slots SET charge_nano_usd = 1')).toContain('spend-agrees-with-calls');
  expect(await brokenBy("INSERT INTO postings VALUES (99, 'account:a', 'revenue', 1, 'nobody')")).toContain(
    'posting-has-a-call',
  );
  expect(await brokenBy('UPDATE archives SET to_ms = to_ms + 1')).toEqual(['archives-can-be-read']);
  expect(await brokenBy('DELETE FROM archives')).toContain('posting-has-a-call');
  database.close();
});
