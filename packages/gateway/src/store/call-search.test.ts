import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nanoUsd } from '../money/money.ts';
import type { CallQuery, CallTotals } from '../ports/call-search.ts';
import type { CallEntry, CallStatus } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { callerFaults, failedStatuses } from './call-facets.ts';
import { SqlCallSearch } from './call-search.ts';
import {
  anyEntry,
  declaration,
  epochMs,
  openingOf,
  sampleEntry,
  settle,
  traceId,
} from './contract/samples.ts';
import { readOverview } from './overview.ts';
import { spanMs, startOf } from './reports.ts';
import { openDatabase } from './sqlite/database.ts';
import { FacetMaker } from './sqlite/facet-maker.ts';
import { openKysely } from './sqlite/kysely.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import { SameThreadLane } from './sqlite/same-thread-lane.ts';

let directory: string;
let file: string;
let store: Store;
let database: DatabaseSync;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-search-'));
  file = join(directory, 'headgate.sqlite');
  store = await openSqliteStore({
    file,
    durability: 'strict',
    clock: { now: Date.now, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: console.error,
  });
  await store.configuration.apply('file', declaration, epochMs);
  database = openDatabase(file);
});
afterEach(async () => {
  database.close();
  await store.close();
  rmSync(directory, { recursive: true });
});

/** Trace ids begin with their time, as those of a gateway do. */
function timed(call: CallEntry, at: number): CallEntry {
  return {
    ...call,
    errorCode: [null, 'overloaded', 'invalid_request'][at % 3] ?? null,
    traceId: call.startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12),
  };
}

const sampled = fc.sample(anyEntry, { numRuns: 150, seed: 7 }).map(timed);

async function settleAll(entries: readonly CallEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => settle(store.ledger, entry)));
  await store.catchUp();
}

function makeAll(): void {
  for (const maker = new FacetMaker(database); maker.step(); );
}

/** Takes back what was made, as a store of an older version has it; but for the facets' ids, which an open store may remember. */
function unmake(): void {
  for (const table of ['faceted_calls', 'tagged_calls', 'facet_sums', 'ttft_sums', 'facet_place'])
    database.exec(`DELETE FROM ${table}`);
}

/** Ended calls that are found by no facet, or are still due. */
function facetless(): number {
  const counted = database.prepare(`SELECT (SELECT count(*) FROM facets_due) + count(*) AS count FROM calls
    WHERE status <> 'open' AND trace_id NOT IN (SELECT trace_id FROM faceted_calls)`);
  return Number(counted.get()?.['count']);
}

const middleMs = epochMs + 50_000_000;
const queries: readonly Partial<CallQuery>[] = [
  {},
  { accountIds: ['account-1'] },
  { accountIds: [] },
  { accountIds: ['account-1', 'account-2'], keyId: 'key-2' },
  { keyId: 'key-1', status: 'failed' },
  { groupId: 'group-1', model: 'beta' },
  { model: '(unknown)' },
  { model: sampled.find(({ modelRequested }) => modelRequested.startsWith('made-up'))?.modelRequested ?? '' },
  { channelId: 'channel-2' },
  { tag: 'red' },
  { tag: 'red', billed: false, fromMs: middleMs },
  { status: 'open' },
  { billed: true },
  { reason: 'zero_completion' },
  { errorCode: 'overloaded', surface: 'chat-completions' },
  { surface: 'messages' },
  { fromMs: epochMs + 5 * spanMs.hour + 1, toMs: epochMs + 29 * spanMs.hour + 7, status: 'complete' },
  { fromMs: middleMs, toMs: middleMs + 1_000_000 },
  { trace: (epochMs + 20_000_000).toString(16).padStart(12, '0').slice(0, 7) },
  { trace: sampled[40]?.traceId ?? '' },
];

type Wanted = Omit<CallEntry, 'status'> & { readonly status: CallStatus };

function isWanted(call: Wanted, query: CallQuery): boolean {
  const isUnknown = call.priceVersion === null && call.attempts.length === 0;
  const equals = (asked: unknown, is: unknown) => asked === undefined || asked === is;
  const isBilled = call.status === 'open' ? null : call.unbilledReason === null;
  return (
    (query.accountIds?.includes(call.accountId) ?? true) &&
    [undefined, call.modelRequested, isUnknown ? '(unknown)' : undefined].includes(query.model) &&
    equals(query.keyId, call.keyId) &&
    equals(query.groupId, call.groupId) &&
    equals(query.channelId, call.channelId) &&
    equals(query.surface, call.surface) &&
    equals(query.tag, call.tag) &&
    equals(query.status, call.status) &&
    equals(query.reason, call.unbilledReason) &&
    equals(query.errorCode, call.errorCode) &&
    equals(query.billed, isBilled) &&
    call.startedAtMs >= query.fromMs &&
    call.startedAtMs < (query.toMs ?? Number.MAX_SAFE_INTEGER) &&
    call.traceId.startsWith(query.trace ?? '')
  );
}

function totalsOf(calls: readonly CallEntry[]): CallTotals {
  const sum = (read: (call: CallEntry) => number | bigint) =>
    calls.reduce((total, call) => total + BigInt(read(call)), 0n);
  const costs = (call: CallEntry) => call.attempts.map(({ costNanoUsd }): bigint => costNanoUsd ?? 0n);
  return {
    calls: calls.length,
    billedCalls: calls.filter(({ unbilledReason }) => unbilledReason === null).length,
    failedCalls: calls.filter(
      ({ status, errorCode }) => failedStatuses.includes(status) && !callerFaults.includes(errorCode ?? ''),
    ).length,
    inputTokens: Number(
      sum(
        ({ usage: of }) =>
          of.inputFresh +
          of.inputCacheRead +
          of.inputCacheWrite5m +
          of.inputCacheWrite1h +
          of.inputAudio +
          of.inputImage +
          of.inputCacheReadAudio,
      ),
    ),
    cachedTokens: Number(sum(({ usage }) => usage.inputCacheRead + usage.inputCacheReadAudio)),
    outputTokens: Number(sum(({ usage }) => usage.output + usage.outputAudio + usage.outputImage)),
    chargeNanoUsd: nanoUsd(sum(({ chargeNanoUsd }) => chargeNanoUsd)),
    costNanoUsd: nanoUsd(sum((call) => costs(call).reduce((one, other) => one + other, 0n))),
    unknownCosts: calls.flatMap(({ attempts }) => attempts).filter(({ costNanoUsd }) => costNanoUsd === null)
      .length,
    isWhole: true,
  };
}

/** Asks every question page by page, and holds the answers against all calls there are. */
async function checkAll(calls: readonly CallEntry[], open: readonly CallEntry[]): Promise<void> {
  const search = new SqlCallSearch(openKysely(database));
  const openCalls = open.map((call) => ({
    ...call,
    status: 'open' as const,
    unbilledReason: null,
    channelId: null,
    errorCode: null,
  }));
  for (const asked of queries) {
    const query = { fromMs: 0, ...asked };
    const wanted = [...calls, ...openCalls].filter((call) => isWanted(call, query));
    const found: string[] = [];
    for (let before: string | null = null; ; ) {
      const page = await search.page(query, 7, before);
      found.push(...page.records.map((record) => record.traceId));
      before = page.next;
      if (before === null) break;
    }
    const expected = wanted
      .map((call) => call.traceId)
      .sort()
      .reverse();
    expect({ query, found }).toEqual({ query, found: expected });
    const ended = calls.filter((call) => isWanted(call, query));
    const isOfMadeUp = query.model?.startsWith('made-up') === true;
    // Sums know words that callers make up by one name.
    if (!isOfMadeUp)
      expect({ query, ...(await search.totals(query)) }).toEqual({ query, ...totalsOf(ended) });
  }
}

test('calls are found and summed up before their facets are made, in the midst of it, and behind it', async () => {
  await store.prepare();
  const open = sampled
    .slice(0, 6)
    .map((call, at) => ({ ...call, traceId: `${call.traceId.slice(0, 12)}${'f'.repeat(19)}${at}` }));
  for (const call of open) store.ledger.open(openingOf(call));
  await settleAll(sampled.slice(0, 100));
  unmake();
  await checkAll(sampled.slice(0, 100), open);
  makeAll();
  await checkAll(sampled.slice(0, 100), open);
  // Some that were open when they were come by have ended, and others have come.
  const ended = open.slice(0, 3).map((call) => ({ ...call, tag: 'red' }));
  await settleAll([...ended, ...sampled.slice(100)]);
  await checkAll([...sampled, ...ended], open.slice(3));
  makeAll();
  await checkAll([...sampled, ...ended], open.slice(3));
});

test('the feeder makes the facets of what it feeds, once none are missing before', async () => {
  await store.prepare();
  const open = sampled.slice(0, 3);
  for (const call of open) store.ledger.open(openingOf(call));
  await settleAll(sampled.slice(3, 60));
  expect(facetless()).toBe(0);
  // They end in the same transaction in which others come, and are not counted twice.
  await settleAll([...open, ...sampled.slice(60, 100)]);
  expect(facetless()).toBe(0);
  await checkAll(sampled.slice(0, 100), []);
  unmake();
  await settleAll(sampled.slice(100, 120));
  makeAll();
  await settleAll(sampled.slice(120));
  expect(facetless()).toBe(0);
  await checkAll(sampled, []);
});

test('a line that the store does not take leaves the facets of the others as they are', async () => {
  await store.prepare();
  await settleAll(sampled.slice(0, 20));
  database.exec(`CREATE TRIGGER no_such_call BEFORE INSERT ON calls WHEN NEW.trace_id = '${sampled[25]?.traceId}'
    BEGIN SELECT RAISE(ABORT, 'made by a test'); END`);
  const open = sampled.slice(40, 43);
  for (const call of open) store.ledger.open(openingOf(call));
  await settleAll(sampled.slice(20, 40));
  await settleAll(open);
  expect(facetless()).toBe(0);
  await checkAll(sampled.slice(0, 43).toSpliced(25, 1), []);
});

test('archived calls are found among the others, and what they were found by is gone', async () => {
  await store.prepare();
  await settleAll(sampled);
  for (let step = await store.archive(middleMs); step !== null; step = await store.archive(middleMs));
  await checkAll(sampled, []);
  const left = database.prepare('SELECT count(*) AS count FROM faceted_calls').get()?.['count'];
  expect(left).toBe(database.prepare('SELECT count(*) AS count FROM calls').get()?.['count']);
});

test('rows that are numbered anew are not counted twice', async () => {
  await store.prepare();
  await settleAll(sampled);
  makeAll();
  for (let step = await store.archive(middleMs); step !== null; step = await store.archive(middleMs));
  database.exec('VACUUM');
  const more = sampleEntry({ traceId: traceId(9).replace(/^0{12}/, 'fffffffffff0') });
  await settleAll([more]);
  makeAll();
  await checkAll([...sampled, more], []);
});

test('an overview has the sums of each step, the times to first content, and what was called most', async () => {
  await store.prepare();
  await settleAll(sampled);
  makeAll();
  const period = { fromMs: epochMs, toMs: epochMs + 2 * spanMs.day, stepMs: spanMs.hour };
  for (const accountIds of [null, ['account-2']]) {
    const own = sampled.filter(({ accountId }) => accountIds?.includes(accountId) ?? true);
    const { steps, tops, ttft } = await readOverview(openKysely(database), accountIds, period);
    const times = [...new Set(own.map(({ startedAtMs }) => startOf(startedAtMs, spanMs.hour)))].sort(
      (a, b) => a - b,
    );
    expect(steps.map(({ atMs }) => atMs)).toEqual(times);
    for (const step of steps) {
      const of = own.filter(({ startedAtMs }) => startOf(startedAtMs, spanMs.hour) === step.atMs);
      const { failedCalls, ...sums } = totalsOf(of);
      expect(step).toMatchObject({
        calls: sums.calls,
        failed: failedCalls,
        chargeNanoUsd: sums.chargeNanoUsd,
      });
    }
    const sorted = own.flatMap(({ ttftMs }) => ttftMs ?? []).sort((a, b) => a - b);
    const middle = Math.max(1, sorted[Math.ceil(sorted.length / 2) - 1] ?? 0);
    expect(Math.abs((ttft.p50Ms ?? 0) / middle - 1)).toBeLessThan(0.035);
    const ofModel = (model: string) => own.filter((call) => call.modelRequested === model).length;
    expect(tops.model.find(({ id }) => id === 'beta')?.calls).toBe(ofModel('beta'));
    expect(tops.key.reduce((sum, { calls }) => sum + calls, 0)).toBe(own.length);
  }
});
