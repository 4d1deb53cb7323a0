import { noUsage } from '@headgate/protocols';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nanoUsd } from '../../money/money.ts';
import { type Spend, spendDimensions } from '../../ports/call-reports.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import type {
  UsageEntry,
  UsageFilter,
  UsagePage,
  UsagePeriod,
  UsagePlace,
} from '../../ports/usage-report.ts';
import { ReferenceLedger } from './reference-ledger.ts';
import { anyEntry, declaration, epochMs, openingOf, sampleEntry, settle, traceId } from './samples.ts';
import { expectSound, type StoreSite } from './store-site.ts';

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

export function describeUsage(createSite: () => StoreSite): void {
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
