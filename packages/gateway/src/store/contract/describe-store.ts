import { noUsage } from '@headgate/protocols';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isSlow } from '../../../../../test/support/slow-form.ts';
import { nanoUsd } from '../../money/money.ts';
import { type Spend, spendDimensions } from '../../ports/call-reports.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { LedgerAlarm, LedgerRecord, Store } from '../../ports/store.ts';
import type {
  UsageEntry,
  UsageFilter,
  UsagePage,
  UsagePeriod,
  UsagePlace,
} from '../../ports/usage-report.ts';
import { describeClaims } from './describe-claims.ts';
import { describeConfiguration } from './describe-configuration.ts';
import { describeEvents } from './describe-events.ts';
import { describeLeases } from './describe-leases.ts';
import { describePrices } from './describe-prices.ts';
import { describeRouterStates } from './describe-router-states.ts';
import { ReferenceLedger } from './reference-ledger.ts';
import {
  anyEntry,
  declaration,
  epochMs,
  openingOf,
  sampleAttempt,
  sampleEntry,
  settle,
  traceId,
} from './samples.ts';
import type { StoreSite } from './store-site.ts';

/** The suite that every store passes. */
export function describeStore(name: string, createSite: () => StoreSite): void {
  describe(`${name}: ledger`, () => describeLedger(createSite));
  describe(`${name}: usage`, () => describeUsage(createSite));
  describe(`${name}: configuration`, () => describeConfiguration(createSite));
  describe(`${name}: prices`, () => describePrices(createSite));
  describe(`${name}: claims`, () => describeClaims(createSite));
  describe(`${name}: events`, () => describeEvents(createSite));
  describe(`${name}: leases`, () => describeLeases(createSite));
  describe(`${name}: router`, () => describeRouterStates(createSite));
}

/** A call of a model that does not exist. */
const refusedUnknown = {
  status: 'failed',
  unbilledReason: 'refused_by_gateway',
  errorCode: 'model_not_found',
  priceVersion: null,
  chargeNanoUsd: nanoUsd(0n),
  usage: noUsage,
  attempts: [],
} as const;

/** The sums of each name, in the order of the names. */
function byName(rows: readonly Spend[]): readonly unknown[] {
  const names = [...Map.groupBy(rows, ({ name }) => name)].sort(([a], [b]) =>
    (a ?? '') < (b ?? '') ? -1 : 1,
  );
  const sum = (of: readonly Spend[], read: (row: Spend) => bigint | number) =>
    of.reduce((total, row) => total + BigInt(read(row)), 0n);
  return names.map(([name, of]) => [
    name,
    ...[sum(of, ({ calls }) => calls), sum(of, ({ billedCalls }) => billedCalls)],
    ...[sum(of, ({ inputTokens }) => inputTokens), sum(of, ({ outputTokens }) => outputTokens)],
    ...[sum(of, ({ chargeNanoUsd }) => chargeNanoUsd), sum(of, ({ costNanoUsd }) => costNanoUsd)],
  ]);
}

const wholeTime = { fromMs: 0, toMs: epochMs * 2 };

function isWithin({ startedAtMs }: UsageEntry, { fromMs, toMs }: UsagePeriod): boolean {
  return startedAtMs >= fromMs && startedAtMs < toMs;
}

function isWanted(entry: UsageEntry, { model, status, billed }: UsageFilter): boolean {
  const { unbilledReason, modelRequested } = entry;
  // The samples that were refused ask for made-up models, and nothing else does.
  const models = modelRequested.startsWith('made-up') ? [modelRequested, '(unknown)'] : [modelRequested];
  const isBilled = entry.status === 'open' ? null : unbilledReason === null;
  return (
    (model === undefined || models.includes(model)) &&
    (status === undefined || entry.status === status) &&
    (billed === undefined || isBilled === billed)
  );
}

async function recordsOf(store: Store): Promise<LedgerRecord[]> {
  return Array.fromAsync(store.exportEntries({}));
}

/** How many calls of dead processes it ends. */
async function recovered(store: Store): Promise<number> {
  return (await store.recover(() => undefined)).interrupted;
}

async function expectSound(store: Store): Promise<void> {
  expect((await store.verify()).findings).toEqual([]);
}

function describeLedger(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;
  let alarms: LedgerAlarm[];

  beforeEach(async () => {
    alarms = [];
    site = createSite();
    store = await site.open((alarm) => alarms.push(alarm));
    await store.configuration.apply('file', declaration, epochMs);
  });
  afterEach(async () => {
    await site.dispose();
  });

  test('gives an entry back as it was settled', async () => {
    const entry = sampleEntry({ losses: ['top_k'], clientRequestId: 'abc' });
    expect(await settle(store.ledger, entry)).toBe('settled');
    expect(await recordsOf(store)).toEqual([entry]);
    await expectSound(store);
  });

  test('finds an entry by its trace id, whosever it is, ended or not', async () => {
    await settle(store.ledger, sampleEntry());
    store.ledger.open(openingOf(sampleEntry({ traceId: traceId(2), keyId: 'key-2' })));
    await store.ledger.flush();
    expect(await store.findEntry(traceId(1))).toEqual(sampleEntry());
    expect(await store.findEntry(traceId(2))).toMatchObject({ status: 'open', keyId: 'key-2', route: null });
    expect(await store.findEntry(traceId(3))).toBeNull();
  });

  test('settles the same entry twice without changing anything', async () => {
    await settle(store.ledger, sampleEntry());
    await store.catchUp();
    const before = await store.reports.balance('account-1');
    expect(await settle(store.ledger, sampleEntry())).toBe('settled');
    await store.catchUp();
    expect(await store.reports.balance('account-1')).toEqual(before);
    expect(alarms).toEqual([]);
    await expectSound(store);
  });

  test('the first entry of a trace id stands; another is set aside, an alarm and a finding', async () => {
    await settle(store.ledger, sampleEntry());
    expect(await settle(store.ledger, sampleEntry({ httpStatus: 201 }))).toBe('settled');
    await store.catchUp();
    expect(alarms).toMatchObject([{ kind: 'conflict', traceId: traceId(1) }]);
    expect(await recordsOf(store)).toEqual([sampleEntry()]);
    const { findings } = await store.verify();
    expect(findings.map(({ rule }) => rule)).toEqual(['every-line-is-taken']);
  });

  test('tells a duplicate from a conflict inside one commit', async () => {
    await Promise.all([
      settle(store.ledger, sampleEntry()),
      settle(store.ledger, sampleEntry()),
      settle(store.ledger, sampleEntry({ errorCode: 'x' })),
    ]);
    await store.catchUp();
    expect(alarms).toMatchObject([{ kind: 'conflict', traceId: traceId(1) }]);
    expect(await recordsOf(store)).toEqual([sampleEntry()]);
  });

  test('takes more at once than fits one commit', async () => {
    const entries = Array.from({ length: 700 }, (_, number) => sampleEntry({ traceId: traceId(number) }));
    const settlements = await Promise.all(entries.map((entry) => settle(store.ledger, entry)));
    expect(new Set(settlements)).toEqual(new Set(['settled']));
    expect((await store.verify()).counts).toMatchObject({
      calls: 700,
      billed: 700,
      open: 0,
      postings: 1_400,
    });
    await expectSound(store);
  });

  test('moves the balance by the charge, and books the cost of attempts as ours', async () => {
    const attempts = [
      sampleAttempt({ n: 1, result: 'unreachable', channelId: 'channel-2' }),
      sampleAttempt({ n: 2 }),
    ];
    const entry = sampleEntry({ attempts });
    await settle(store.ledger, entry);
    await store.catchUp();
    expect(await store.reports.balance('account-1')).toEqual({
      balanceNanoUsd: -entry.chargeNanoUsd,
      isShown: true,
    });
    await expectSound(store);
  });

  test.each([
    ['a charge on a failed call', { status: 'failed' }],
    ['a charge on an unbilled call', { unbilledReason: 'zero_completion' }],
    ['a negative charge', { chargeNanoUsd: sampleEntry().chargeNanoUsd * -1n }],
  ])('never writes %s', async (_name, changes) => {
    // The cases are wrong on purpose, in ways the types allow but for the brand of the amount.
    const broken = { ...sampleEntry(), ...changes } as CallEntry;
    expect(await settle(store.ledger, broken)).toBe('unavailable');
    expect(alarms).toMatchObject([{ kind: 'unavailable', traceId: traceId(1) }]);
    expect(await recordsOf(store)).toEqual([]);
  });

  test('shows an open call, and replaces it by its end', async () => {
    store.ledger.open(openingOf(sampleEntry()));
    await store.ledger.flush();
    await store.catchUp();
    expect(await store.reports.find('key-1', traceId(1))).toMatchObject({
      status: 'open',
      finishedAtMs: null,
      durationMs: null,
      attempts: 0,
    });
    expect((await store.reports.totals('key-1', null)).calls).toBe(0);
    expect(await settle(store.ledger, sampleEntry())).toBe('settled');
    expect(await recordsOf(store)).toEqual([sampleEntry()]);
    await expectSound(store);
  });

  test('does not open again what has ended', async () => {
    await settle(store.ledger, sampleEntry());
    store.ledger.open(openingOf(sampleEntry()));
    await store.ledger.flush();
    expect(await recordsOf(store)).toEqual([sampleEntry()]);
  });

  test('leaves the open calls of a living process alone, and ends those of a dead one', async () => {
    const other = await site.open();
    other.ledger.open(openingOf(sampleEntry()));
    await other.ledger.flush();
    store.ledger.open(openingOf(sampleEntry({ traceId: traceId(2) })));
    await store.ledger.flush();

    expect(await recovered(store)).toBe(0);
    await other.close();
    // The store looks around by itself, too, and may have been first.
    expect(await recovered(store)).toBeLessThanOrEqual(1);
    expect(await recovered(store)).toBe(0);

    expect(await recordsOf(store)).toMatchObject([
      { traceId: traceId(1), status: 'interrupted', unbilledReason: 'interrupted', chargeNanoUsd: 0n },
      { traceId: traceId(2), status: 'open' },
    ]);
    expect(await store.reports.totals('key-1', null)).toMatchObject({ calls: 1, billedCalls: 0 });
    await expectSound(store);
  });

  test('exports what a filter asks for, oldest first', async () => {
    const entries = [
      sampleEntry({ traceId: traceId(3), keyId: 'key-2' }),
      sampleEntry({ traceId: traceId(1), startedAtMs: epochMs + 5 }),
      sampleEntry({ traceId: traceId(2), modelRequested: 'beta', startedAtMs: epochMs + 9 }),
    ];
    for (const entry of entries) await settle(store.ledger, entry);
    const idsOf = async (filter: Parameters<Store['exportEntries']>[0]) =>
      (await Array.fromAsync(store.exportEntries(filter))).map((entry) => Number.parseInt(entry.traceId, 16));
    expect(await idsOf({})).toEqual([1, 2, 3]);
    expect(await idsOf({ keyId: 'key-1' })).toEqual([1, 2]);
    expect(await idsOf({ model: 'beta' })).toEqual([2]);
    expect(await idsOf({ fromMs: epochMs + 1, toMs: epochMs + 9 })).toEqual([1]);
    expect(await idsOf({ channelId: 'nowhere' })).toEqual([]);
    expect(await idsOf({ status: 'open' })).toEqual([]);
  });

  test('reports a charge that its price does not give', async () => {
    await settle(
      store.ledger,
      sampleEntry({ chargeNanoUsd: sampleEntry({ multiplierPpm: 2n }).chargeNanoUsd }),
    );
    await settle(store.ledger, sampleEntry({ traceId: traceId(2), priceVersion: 'nowhere' }));
    expect((await store.verify()).findings).toMatchObject([
      { rule: 'charge-follows-its-price', subject: traceId(1) },
      { rule: 'charge-follows-its-price', subject: traceId(2) },
    ]);
  });

  test('agrees with the reference on any sequence of calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 60 }), fc.nat(3), async (entries, repeats) => {
        const site = createSite();
        try {
          const fresh = await site.open();
          await fresh.configuration.apply('file', declaration, epochMs);
          await agree(fresh, [...entries, ...entries.slice(0, repeats)]);
        } finally {
          await site.dispose();
        }
      }),
      { numRuns: isSlow ? 60 : 8 },
    );
  });

  /** Settles in commits of different sizes, opening some first, and compares everything that can be asked. */
  async function agree(fresh: Store, entries: readonly CallEntry[]): Promise<void> {
    const reference = new ReferenceLedger();
    for (let from = 0; from < entries.length; from += 7) {
      const batch = entries.slice(from, from + 7);
      for (const entry of batch.slice(0, from % 3)) fresh.ledger.open(openingOf(entry));
      const settlements = await Promise.all(batch.map((entry) => settle(fresh.ledger, entry)));
      expect(new Set(settlements)).toEqual(new Set(['settled']));
      for (const entry of batch) reference.settle(entry);
    }
    const sorted = [...reference.entries.values()].sort((a, b) => (a.traceId < b.traceId ? -1 : 1));
    expect(await recordsOf(fresh)).toEqual(sorted);
    for (const account of ['account-1', 'account-2']) {
      expect((await fresh.reports.balance(account)).balanceNanoUsd).toBe(reference.balance(account));
    }
    const { findings } = await fresh.verify();
    const conflicts = Array.from({ length: reference.conflicts }, () => 'every-line-is-taken');
    expect(findings.map(({ rule }) => rule)).toEqual(conflicts);
  }
}

function describeUsage(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;
  const reference = new ReferenceLedger();

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
    reference.entries.clear();
  });
  afterEach(async () => {
    await site.dispose();
  });

  async function settleAll(entries: readonly CallEntry[]): Promise<void> {
    for (const entry of entries) reference.settle(entry);
    await Promise.all([...reference.entries.values()].map((entry) => settle(store.ledger, entry)));
    await store.catchUp();
  }

  test('sums any period and any slots, whole quarters of an hour or not', async () => {
    const calls = fc.sample(anyEntry, { numRuns: 300, seed: 7 });
    await settleAll(calls);
    const moment = fc.nat(110_000_000).map((offset) => epochMs + offset);
    const bound = fc.oneof(
      moment,
      moment.map((at) => at - (at % 900_000)),
    );
    const bounds = fc
      .uniqueArray(bound, { minLength: 2, maxLength: 12 })
      .map((list) => list.sort((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(bounds, async (edges) => {
        const period = { fromMs: edges[0] ?? 0, toMs: edges.at(-1) ?? 0 };
        expect(await store.reports.totals('key-1', period)).toEqual(reference.totals('key-1', period));
        expect(await store.reports.series('key-1', edges)).toEqual(reference.series('key-1', edges));
        expect(await store.reports.byModel('key-1', period, 100, null)).toEqual(
          reference.byModel('key-1', period),
        );
      }),
      { numRuns: 60 },
    );
    expect(await store.reports.totals('key-1', null)).toEqual(reference.totals('key-1', wholeTime));
  });

  test('models that callers make up are one row of every report, however many they are', async () => {
    const entries = Array.from({ length: 300 }, (_, number) =>
      sampleEntry({
        ...refusedUnknown,
        traceId: traceId(number),
        modelRequested: `made-up-${number}`,
      }),
    );
    await settleAll([...entries, sampleEntry({ traceId: traceId(300) })]);
    const { models } = await store.reports.byModel('key-1', wholeTime, 100, null);
    expect(models.map(({ model, totals }) => [model, totals.calls])).toEqual([
      ['(unknown)', 300],
      ['alpha', 1],
    ]);
    const spent = await store.calls.spend('model', { fromMs: 0 });
    expect(spent.map(({ name, calls }) => [name, calls])).toEqual([
      ['alpha', 1],
      ['(unknown)', 300],
    ]);
    // Each entry says what was asked for, and is found by it, or by the name that they have together.
    const found = await store.calls.list({ fromMs: 0, model: 'made-up-7' }, 10, null);
    expect(found.map((entry) => entry.traceId)).toEqual([traceId(7)]);
    expect(await store.calls.list({ fromMs: 0, model: '(unknown)' }, 1000, null)).toHaveLength(300);
    expect(await Array.fromAsync(store.exportEntries({ model: '(unknown)' }))).toHaveLength(300);
    await store.configuration.apply('file', declaration, epochMs);
    await expectSound(store);
  });

  test('tags that callers make up are a bounded number of sums for a key and a quarter of an hour', async () => {
    const entries = Array.from({ length: 250 }, (_, number) =>
      sampleEntry({ traceId: traceId(number), tag: `tag-${number % 130}`, keyId: `key-${number % 2}` }),
    );
    await settleAll([...entries, sampleEntry({ traceId: traceId(250) })]);
    const more = sampleEntry({ traceId: traceId(251), tag: 'late', keyId: 'key-1' });
    await settleAll([more, { ...more, traceId: traceId(252), startedAtMs: epochMs + 900_000 }]);
    for (const period of [
      { fromMs: 0 },
      { fromMs: 0, keyId: 'key-1' },
      { fromMs: epochMs - 1, toMs: epochMs + 1 },
    ]) {
      const spent = await store.calls.spend('tag', period);
      expect(spent.length).toBeLessThanOrEqual(2 * 100 + 3);
      const billed = await store.calls.spend('tag', { ...period, billed: true });
      expect(byName(spent)).toEqual(byName(billed));
    }
    const spent = await store.calls.spend('tag', { fromMs: 0 });
    const callsOf = (name: string | null) => spent.find((row) => row.name === name)?.calls;
    expect(callsOf(null)).toBe(1);
    expect(callsOf('tag-7')).toBe(2);
    expect(callsOf('late')).toBe(2);
    const late = { traceId: traceId(253), tag: 'late', keyId: 'key-1' };
    const many = Array.from({ length: 140 }, (_, number) =>
      sampleEntry({ traceId: traceId(1000 + number), tag: `many-${number}`, keyId: 'key-3' }),
    );
    await settleAll([...many, sampleEntry(late)]);
    const ofKey = await store.calls.spend('tag', { fromMs: 0, keyId: 'key-3' });
    expect(ofKey).toHaveLength(101);
    expect(ofKey.find(({ name }) => name === '(other)')).toMatchObject({ calls: 40 });
    // Each entry has its own, and is found by it.
    expect(await store.calls.list({ fromMs: 0, tag: 'many-139' }, 10, null)).toHaveLength(1);
    expect(await Array.fromAsync(store.exportEntries({ tag: 'many-139' }))).toHaveLength(1);
    await store.configuration.apply('file', declaration, epochMs);
    await expectSound(store);
  });

  test('sums by model come in pages', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    await settleAll(names.map((modelRequested, at) => sampleEntry({ traceId: traceId(at), modelRequested })));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await store.reports.byModel('key-1', wholeTime, 2, cursor);
      seen.push(...page.models.map(({ model }) => model));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(names);
  });

  test('what was spent is the same by sums and by calls, whichever period is asked for', async () => {
    // Trace ids begin with their time, and spans of time are read by them.
    const timed = (call: CallEntry, at: number) => ({
      ...call,
      traceId: call.startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12),
    });
    await settleAll(fc.sample(anyEntry, { numRuns: 200, seed: 11 }).map(timed));
    const moment = fc.nat(110_000_000).map((offset) => epochMs + offset);
    const dimension = fc.constantFrom(...spendDimensions);
    await fc.assert(
      fc.asyncProperty(dimension, moment, moment, fc.boolean(), async (by, a, b, isEnded) => {
        const filter = { fromMs: Math.min(a, b), ...(isEnded ? { toMs: Math.max(a, b) } : {}) };
        // The sums do not know which calls were billed, so these are read call by call.
        const billed = await store.calls.spend(by, { ...filter, billed: true });
        const others = await store.calls.spend(by, { ...filter, billed: false });
        expect(byName(await store.calls.spend(by, filter))).toEqual(byName([...billed, ...others]));
      }),
      { numRuns: 60 },
    );
  });

  test('pages newest first, each entry once', async () => {
    const sameMoment = { startedAtMs: epochMs };
    const calls = fc.sample(anyEntry, { numRuns: 57, seed: 3 });
    await settleAll(calls.map((call, index) => (index % 4 === 0 ? { ...call, ...sameMoment } : call)));
    const seen: string[] = [];
    let before: UsagePlace | null = null;
    do {
      const page: UsagePage = await store.reports.page('key-1', wholeTime, {}, 5, before);
      expect(page.entries.length).toBeLessThanOrEqual(5);
      seen.push(...page.entries.map((entry) => entry.traceId));
      before = page.next;
    } while (before !== null);
    expect(seen).toEqual(reference.page('key-1', wholeTime));
  });

  test('pages of what a filter lets through are those of all calls that it lets through', async () => {
    const timed = (call: CallEntry, at: number) => ({ ...call, traceId: traceId(at) });
    const calls = fc.sample(anyEntry, { numRuns: 250, seed: 5 }).map(timed);
    await settleAll(calls);
    for (let at = 0; at < 5; at++)
      store.ledger.open(
        openingOf(sampleEntry({ traceId: traceId(900 + at), startedAtMs: epochMs + at * 9_000_000 })),
      );
    await store.ledger.flush();
    await store.catchUp();
    const everything = await pageThrough({}, wholeTime, 200);
    expect(everything).toHaveLength(5 + reference.page('key-1', wholeTime).length);
    const filter = fc.record(
      {
        model: fc.constantFrom('alpha', 'beta', 'made-up alpha', 'nothing', '(unknown)'),
        status: fc.constantFrom('open', 'complete', 'failed', 'timed_out', 'caller_gone', 'interrupted'),
        billed: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const moment = fc.nat(110_000_000).map((offset) => epochMs + offset);
    await fc.assert(
      fc.asyncProperty(
        filter,
        moment,
        moment,
        fc.integer({ min: 1, max: 9 }),
        async (wanted, a, b, limit) => {
          const period = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
          const expected = everything.filter((entry) => isWanted(entry, wanted) && isWithin(entry, period));
          expect(await pageThrough(wanted, period, limit)).toEqual(expected);
        },
      ),
      { numRuns: 80 },
    );
  });

  async function pageThrough(filter: UsageFilter, period: UsagePeriod, limit: number): Promise<UsageEntry[]> {
    const seen: UsageEntry[] = [];
    let before: UsagePlace | null = null;
    do {
      const page: UsagePage = await store.reports.page('key-1', period, filter, limit, before);
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      seen.push(...page.entries);
      before = page.next;
    } while (before !== null);
    return seen;
  }

  test("never shows another key's calls", async () => {
    await settleAll([sampleEntry({ keyId: 'key-2' })]);
    expect(await store.reports.find('key-1', traceId(1))).toBeNull();
    const nothing = { entries: [], next: null, searchedToMs: null };
    expect(await store.reports.page('key-1', wholeTime, {}, 10, null)).toEqual(nothing);
    const before = { atMs: epochMs, traceId: traceId(1) };
    expect(await store.reports.page('key-1', wholeTime, {}, 10, before)).toEqual(nothing);
    expect((await store.reports.totals('key-1', null)).calls).toBe(0);
  });

  test('shows an owner neither channel nor cost', async () => {
    await settleAll([sampleEntry()]);
    const entry = await store.reports.find('key-1', traceId(1));
    expect(entry).toMatchObject({
      traceId: traceId(1),
      attempts: 1,
      chargeNanoUsd: sampleEntry().chargeNanoUsd,
    });
    expect(Object.keys(entry ?? {}).join()).not.toMatch(/channel|cost/i);
  });

  test('has nothing to say about nothing', async () => {
    expect(await store.reports.series('key-1', [])).toEqual([]);
    expect(await store.reports.series('key-1', [epochMs, epochMs + 1])).toEqual([]);
    expect(await store.reports.byModel('key-1', wholeTime, 10, null)).toEqual({
      models: [],
      nextCursor: null,
    });
    expect(await store.reports.balance('nobody')).toEqual({
      balanceNanoUsd: 0n,
      isShown: false,
    });
  });
}
