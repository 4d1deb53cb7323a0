import { afterEach, beforeEach, expect, test } from 'vitest';
import { nanoUsd } from '../../money/money.ts';
import {
  type BudgetWindow,
  type LeaseAsk,
  type LeaseExchange,
  type LeaseTerms,
  type MoneyTerms,
  type RateTerms,
  rateSlotMs,
} from '../../ports/leases.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, sampleEntry, sampleKey, settle, traceId } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

const money: MoneyTerms = {
  kind: 'money',
  subject: 'account:account-1',
  measure: 'money',
  creditLimit: 100n,
  budgets: [],
};
const requests: RateTerms = {
  kind: 'rate',
  subject: 'key:key-1',
  measure: 'requests-per-minute',
  amount: 10n,
  windowMs: minuteMs,
};
const concurrent: RateTerms = { ...requests, measure: 'concurrent-calls', windowMs: null };

function budget(changes: Partial<BudgetWindow> = {}): BudgetWindow {
  return { span: 'day', amount: 100n, alertAt: 80n, fromMs: epochMs, toMs: epochMs + dayMs, ...changes };
}

function ask(terms: LeaseTerms, least: bigint, wish = least): LeaseAsk {
  return { terms, least, wish };
}

/** A process, as the store knows it by its leases. */
class Process {
  readonly store: Store;
  nowMs = epochMs;
  #number = 0;

  constructor(store: Store) {
    this.store = store;
  }

  exchange(parts: Partial<LeaseExchange>) {
    const nothing = { returns: [], uses: [], asks: [] };
    return this.store.leases.exchange({ number: ++this.#number, nowMs: this.nowMs, ...nothing, ...parts });
  }

  async ask(...asks: readonly LeaseAsk[]) {
    return (await this.exchange({ asks })).grants;
  }

  async askOne(...asked: Parameters<typeof ask>) {
    const [grant] = await this.ask(ask(...asked));
    if (grant === undefined) throw new Error('an ask has no answer');
    return grant;
  }

  giveBack({ subject, measure }: LeaseTerms, amount: bigint, want: number | null = null) {
    return this.exchange({ returns: [{ subject, measure, amount, want }] });
  }

  use({ subject, measure }: LeaseTerms, amount: bigint, slotStartMs = this.nowMs) {
    return this.exchange({ uses: [{ subject, measure, amount, slotStartMs }] });
  }

  async settle(number: number, changes: Partial<CallEntry>): Promise<void> {
    const call = { traceId: traceId(number), unbilledReason: null, startedAtMs: epochMs };
    expect(await settle(this.store.ledger, sampleEntry({ ...call, ...changes }))).toBe('settled');
    expect(await this.store.catchUp()).toBeNull();
  }
}

/** Rules that say something of leases; charges of these tests follow no price. */
const rules = /lease|spending|sums|balance/;

export function describeLeases(createSite: () => StoreSite): void {
  let site: StoreSite;
  let one: Process;
  let other: Process;

  const open = async () => {
    const store = await site.open();
    await store.prepare();
    return new Process(store);
  };
  beforeEach(async () => {
    site = createSite();
    one = await open();
  });
  afterEach(async () => {
    const { findings } = await one.store.verify();
    expect(findings.filter(({ rule }) => rules.test(rule))).toEqual([]);
    await site.dispose();
  });

  test('what is taken of rates is told: what was used within each window, and what is leased', async () => {
    // Whoever reads it has the wall's clock.
    const nowMs = Date.now();
    one.nowMs = nowMs;
    const daily: RateTerms = { ...requests, measure: 'requests-per-day', windowMs: dayMs };
    const ofModel: RateTerms = { ...requests, measure: 'requests-per-minute/alpha' };
    await one.ask(ask(requests, 5n), ask(daily, 6n), ask(ofModel, 1n), ask(concurrent, 1n));
    await one.use(requests, 2n, nowMs);
    await one.use(requests, 1n, nowMs - 2 * minuteMs);
    await one.use(daily, 4n, nowMs - 2 * 60 * minuteMs);
    expect(await one.store.keys.rates('key:key-1')).toEqual([
      { measure: 'concurrent-calls', used: 0, leased: 10 },
      { measure: 'requests-per-day', used: 4, leased: 2 },
      { measure: 'requests-per-minute', used: 2, leased: 2 },
      { measure: 'requests-per-minute/alpha', used: 0, leased: 1 },
    ]);
    expect(await one.store.keys.rates('key:key')).toEqual([]);
  });

  test('a process that is alone is granted all there is, and knows what is left', async () => {
    expect(await one.askOne(money, 10n)).toMatchObject({
      granted: 100n,
      verdict: 'granted',
      own: 100n,
      room: 0n,
    });
    expect(await one.askOne(money, 1n)).toMatchObject({
      granted: 0n,
      verdict: 'refused',
      own: 100n,
      room: 0n,
    });
    await one.giveBack(money, 60n);
    expect(await one.askOne(money, 0n)).toMatchObject({ granted: 0n, own: 40n, room: 60n });
    expect(await one.askOne(money, 61n, 61n)).toMatchObject({ verdict: 'refused' });
  });

  test('a small part of a rate is granted, as much as is wished', async () => {
    expect(await one.askOne(requests, 1n, 3n)).toMatchObject({ granted: 3n, room: 7n, slots: [] });
    expect(await one.askOne(requests, 8n)).toMatchObject({ granted: 0n, verdict: 'refused' });
    expect(await one.askOne(requests, 1n, 20n)).toMatchObject({ granted: 7n, own: 10n, room: 0n });
  });

  test('several share what is left', async () => {
    other = await open();
    expect(await one.askOne(money, 1n)).toMatchObject({ granted: 50n });
    expect(await other.askOne(money, 1n)).toMatchObject({ granted: 25n });
    expect(await other.askOne(concurrent, 1n)).toMatchObject({ granted: 5n });
    expect(await other.askOne(money, 25n)).toMatchObject({ granted: 25n, own: 50n, room: 0n });
  });

  test.each([money, requests, concurrent])(
    'one wants of $measure what another has, until that has given it back',
    async (terms) => {
      const all = terms.kind === 'rate' ? terms.amount : 100n;
      await one.askOne(terms, all);
      other = await open();
      expect(await other.askOne(terms, all + 1n)).toMatchObject({ verdict: 'refused' });
      expect((await one.exchange({})).wants).toEqual([]);
      expect(await other.askOne(terms, 4n)).toMatchObject({ granted: 0n, verdict: 'later' });
      const { wants } = await one.exchange({});
      expect(wants).toMatchObject([{ subject: terms.subject, measure: terms.measure }]);
      expect((await other.exchange({})).wants).toEqual([]);
      // It needs nearly all of it for calls that run.
      await one.giveBack(terms, 3n, wants[0]?.want ?? null);
      expect((await one.exchange({})).wants).toEqual([]);
      expect(await other.askOne(terms, 4n)).toMatchObject({ granted: 0n, verdict: 'refused', room: 3n });
      expect(await other.askOne(terms, 3n)).toMatchObject({ granted: 3n, verdict: 'granted' });
    },
  );

  test('who is granted more may have more to give, and is asked again', async () => {
    await one.askOne(money, 100n);
    other = await open();
    expect(await other.askOne(money, 10n)).toMatchObject({ verdict: 'later' });
    const { wants } = await one.exchange({});
    await one.giveBack(money, 100n, wants[0]?.want ?? null);
    // While somebody wants the rest, nobody is granted more than it needs, nor what others have waited for.
    expect(await one.askOne(money, 95n)).toMatchObject({ granted: 0n, verdict: 'later' });
    expect(await one.askOne(money, 20n, 30n)).toMatchObject({ granted: 30n });
    expect(await other.askOne(money, 90n)).toMatchObject({ verdict: 'later' });
    expect((await one.exchange({})).wants).toHaveLength(1);
  });

  test('a want that nobody repeats is over soon, on whatever clock', async () => {
    await one.askOne(money, 100n);
    other = await open();
    await other.askOne(money, 10n);
    for (const step of [2_000, -dayMs, dayMs]) {
      one.nowMs = epochMs + step;
      expect((await one.exchange({})).wants).toEqual([]);
    }
  });

  test('a charge leaves the leases that its entry names, and is spent by all owners', async () => {
    const day = { ...money, creditLimit: null, budgets: [budget()] };
    const owners: readonly MoneyTerms[] = [
      { ...day, budgets: [budget(), budget({ span: 'total', amount: 500n, fromMs: 0, toMs: 0 })] },
      { ...day, subject: 'group:group-1' },
      { ...day, subject: 'key:key-1' },
    ];
    await one.ask(...owners.map((terms) => ask(terms, 10n)));
    await one.settle(1, { chargeNanoUsd: nanoUsd(30n), leased: 5 });
    const looks = await one.ask(...owners.map((terms) => ask(terms, 0n)));
    expect(looks).toMatchObject([
      { own: 70n, spent: [30n, 30n], room: 0n },
      { own: 100n, spent: [30n], room: -30n },
      { own: 70n, spent: [30n], room: 0n },
    ]);
    expect(await one.askOne(money, 0n)).toMatchObject({ balance: -30n });
  });

  test('more spent than leased makes no room for others', async () => {
    await one.askOne(money, 100n);
    await one.giveBack(money, 60n);
    await one.settle(1, { chargeNanoUsd: nanoUsd(70n), leased: 1 });
    other = await open();
    expect(await other.askOne(money, 0n)).toMatchObject({ own: 0n, room: 30n });
    expect(await other.askOne(money, 31n)).toMatchObject({ verdict: 'refused' });
    // Filling up what it owes takes nothing from the rest.
    expect(await one.askOne(money, 60n)).toMatchObject({ granted: 60n, own: 30n, room: 0n });
  });

  test('a budget counts the calls that began in its window, however it is cut', async () => {
    const quarterMs = 15 * minuteMs;
    const at = [-quarterMs, 0, quarterMs, dayMs - 1, dayMs, 20 * dayMs, 40 * dayMs - 1, 40 * dayMs];
    for (const [number, offset] of at.entries())
      await one.settle(number, {
        chargeNanoUsd: nanoUsd(10n ** BigInt(number)),
        startedAtMs: epochMs + offset,
      });
    const spent = async (fromMs: number, toMs: number) => {
      const window = budget({ span: 'month', fromMs: epochMs + fromMs, toMs: epochMs + toMs });
      return (await one.askOne({ ...money, creditLimit: null, budgets: [window] }, 0n)).spent[0];
    };
    expect(await spent(0, dayMs)).toBe(1_110n);
    expect(await spent(quarterMs, dayMs + quarterMs)).toBe(11_100n);
    expect(await spent(quarterMs, 2 * quarterMs)).toBe(100n);
    expect(await spent(-quarterMs, 40 * dayMs)).toBe(1_111_111n);
    expect(await spent(2 * quarterMs, 40 * dayMs - quarterMs)).toBe(111_000n - 0n);
    const total = budget({ span: 'total', fromMs: 0, toMs: 0 });
    expect((await one.askOne({ ...money, budgets: [total] }, 0n)).spent).toEqual([11_111_111n]);
  });

  test('the budgets of a key that is rotated go on with its successor', async () => {
    await one.store.configuration.apply('file', declaration, epochMs);
    for (const [old, next] of [
      ['key-1', 'key-2'],
      ['key-2', 'key-3'],
    ] as const)
      await one.store.configuration.rotateKey(old, sampleKey(next), epochMs, epochMs);
    for (const [at, keyId] of ['key-1', 'key-2', 'key-3', 'key-4'].entries())
      await one.settle(at, { keyId, chargeNanoUsd: nanoUsd(10n ** BigInt(at)) });
    const budgets = [budget({ amount: 1_000n }), budget({ amount: 1_000n, span: 'total' })];
    const terms = (id: string) => ({ ...money, subject: `key:${id}` as const, creditLimit: null, budgets });
    for (const id of ['key-1', 'key-2', 'key-3'])
      expect(await one.askOne(terms(id), 0n)).toMatchObject({ room: 889n, spent: [111n, 111n] });
    expect(await one.askOne(terms('key-4'), 0n)).toMatchObject({ spent: [1_000n, 1_000n] });
    expect(await one.store.accounts.spent('key:key-3', [null])).toEqual([111n]);
  });

  test('the least of all budgets and the balance decides', async () => {
    const terms = { ...money, budgets: [budget({ amount: 70n }), budget({ span: 'month', amount: 90n })] };
    expect(await one.askOne(terms, 1n)).toMatchObject({
      granted: 70n,
      room: 0n,
      balance: 0n,
      spent: [0n, 0n],
    });
    expect(await one.askOne({ ...money, subject: 'account:nobody', creditLimit: 5n }, 1n)).toMatchObject({
      granted: 5n,
    });
  });

  test('a window slides by slots, and counts each until all of it has left', async () => {
    await one.askOne(requests, 10n);
    await one.use(requests, 4n);
    one.nowMs += 20_500;
    await one.use(requests, 6n, epochMs + 20_000);
    expect(await one.askOne(requests, 1n)).toMatchObject({
      ...{ verdict: 'refused', room: 0n, own: 0n },
      slots: [epochMs, 4, epochMs + 20_000, 6],
    });
    one.nowMs = epochMs + minuteMs + rateSlotMs(minuteMs) - 1;
    expect(await one.askOne(requests, 1n)).toMatchObject({ verdict: 'refused' });
    one.nowMs++;
    expect(await one.askOne(requests, 1n, 10n)).toMatchObject({ granted: 4n, slots: [epochMs + 20_000, 6] });
  });

  test('slots that a clock made which was put back since lock nothing', async () => {
    const perDay: RateTerms = { ...requests, measure: 'requests-per-day', windowMs: dayMs };
    for (const terms of [requests, perDay]) {
      await one.askOne(terms, 10n);
      one.nowMs = epochMs + dayMs;
      await one.use(terms, 10n);
      one.nowMs = epochMs;
      expect(await one.askOne(terms, 1n)).toMatchObject({ granted: 1n });
    }
    // And a day's requests are still known when a clock that was put forward is put back.
    await one.use(perDay, 1n);
    one.nowMs = epochMs + dayMs;
    await one.askOne(perDay, 0n);
    one.nowMs = epochMs;
    expect(await one.askOne(perDay, 0n)).toMatchObject({ slots: [epochMs, 1] });
  });

  test('an exchange whose answer was lost is not done twice, and grants the same', async () => {
    const exchange = { number: 7, asks: [ask(money, 10n), ask(requests, 2n)] };
    const first = await one.exchange(exchange);
    expect(first.grants).toMatchObject([{ granted: 100n }, { granted: 2n }]);
    expect((await one.exchange(exchange)).grants).toMatchObject([
      { granted: 100n, own: 100n },
      { granted: 2n, own: 2n },
    ]);
    const { subject, measure } = money;
    const back = { number: 8, returns: [{ subject, measure, amount: 40n, want: null }] };
    await one.exchange(back);
    await one.exchange(back);
    expect(await one.exchange({ number: 9, asks: [ask(money, 0n)] })).toMatchObject({
      grants: [{ own: 60n }],
    });
  });

  test('a process that ends leaves no lease', async () => {
    await one.ask(ask(money, 100n), ask(concurrent, 10n), ask(requests, 10n));
    other = await open();
    await one.store.close();
    one = other;
    other.nowMs = Date.now();
    expect(await other.ask(ask(money, 0n), ask(concurrent, 0n))).toMatchObject([
      { room: 100n },
      { room: 10n },
    ]);
    // Nobody knows whether the rest of a rate was used.
    expect(await other.askOne(requests, 1n)).toMatchObject({ verdict: 'refused' });
  });

  test('each threshold is told once, whoever finds it', async () => {
    other = await open();
    const terms = { ...money, creditLimit: null, budgets: [budget()] };
    const alertsOf = async (process: Process, of: LeaseTerms, least = 0n) =>
      (await process.exchange({ asks: [ask(of, least)] })).alerts.map(({ kind }) => kind);
    expect(await alertsOf(one, terms)).toEqual([]);
    await one.settle(1, { chargeNanoUsd: nanoUsd(85n) });
    expect([...(await alertsOf(one, terms)), ...(await alertsOf(other, terms))]).toEqual([
      'budget-threshold',
    ]);
    expect([...(await alertsOf(other, terms, 20n)), ...(await alertsOf(one, terms, 20n))]).toEqual([
      'budget-exhausted',
    ]);
    const next = { ...terms, budgets: [budget({ fromMs: epochMs + dayMs, toMs: epochMs + 2 * dayMs })] };
    expect(await alertsOf(one, next)).toEqual([]);
    expect(await alertsOf(one, money)).toEqual([]);
    await one.settle(2, { chargeNanoUsd: nanoUsd(15n) });
    expect([...(await alertsOf(one, money)), ...(await alertsOf(other, money, 1n))]).toEqual([
      'balance-exhausted',
    ]);
  });

  test('leases belong to a process that is prepared to write', async () => {
    const store = await site.open();
    const exchange = { number: 1, nowMs: epochMs, returns: [], uses: [], asks: [ask(money, 1n)] };
    await expect(store.leases.exchange(exchange)).rejects.toThrow('none has begun');
  });
}
