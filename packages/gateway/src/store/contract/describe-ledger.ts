import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSlow } from '../../../../../test/support/slow-form.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { LedgerAlarm, LedgerRecord, Store } from '../../ports/store.ts';
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
import { expectSound, type StoreSite } from './store-site.ts';

async function recordsOf(store: Store): Promise<LedgerRecord[]> {
  return Array.fromAsync(store.exportEntries({}));
}

/** How many calls of dead processes it ends. */
async function recovered(store: Store): Promise<number> {
  return (await store.recover(() => undefined)).interrupted;
}

export function describeLedger(createSite: () => StoreSite): void {
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
