import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OwnerLimits } from '../catalogue/limits.ts';
import { nanoUsd } from '../money/money.ts';
import type { HoldResult } from '../ports/holds.ts';
import { epochMs } from '../store/contract/samples.ts';
import {
  accountOf,
  demand,
  holdOf,
  LeaseSite,
  ownerOf,
  rate,
  refusalOf,
  type SiteProcess,
  taken,
  turns,
} from './lease-site.fixture.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const owners = { account: 'a', group: 'g', key: 'k' };

let site: LeaseSite;
let one: SiteProcess;

beforeEach(() => {
  site = new LeaseSite();
  one = site.start();
});
afterEach(() => site.close());

const outstanding = () => site.number('SELECT coalesce(sum(outstanding), 0) FROM leases');

test('the first call waits for a lease, and those after it take theirs within the turn', async () => {
  const limits = [accountOf('a', 100n), ownerOf('k', { rates: [rate('requests-per-minute', 60)] })];
  expect(one.takeNow(limits, demand(10n))).toBeNull();
  const hold = holdOf(await one.take(limits, demand(10n)));
  expect(hold.leased).toBe(1);
  for (let call = 0; call < 9; call++) {
    holdOf(one.takeNow(limits, demand(10n)));
    await turns();
  }
  expect(refusalOf(await one.take(limits, demand(1n)))).toMatchObject({
    kind: 'exceeded',
    limit: { owner: 'account', id: 'a', kind: 'balance', amount: 100n, remaining: 0n, resetsAtMs: null },
    retryAfterMs: null,
  });
  hold.settle(taken(4n));
  hold.settle(taken(0n));
  holdOf(one.takeNow(limits, demand(6n)));
  expect(one.takeNow(limits, demand(1n))).toMatchObject({ ok: false });
});

test('the part of a lease that no call has taken is idle, and none of a limit that nobody has asked for', async () => {
  const places = { subject: 'key:k', measure: 'concurrent-calls' } as const;
  expect(one.limits.idle(places)).toBe(0n);
  const limits = [ownerOf('k', { rates: [rate('concurrent-calls', 5)] })];
  const hold = holdOf(await one.take(limits, demand(0n)));
  // A process that is alone leases all places.
  expect([outstanding(), one.limits.idle(places)]).toEqual([5n, 4n]);
  hold.settle(taken(0n));
  expect(one.limits.idle(places)).toBe(5n);
});

test('a call takes from all of its limits, or from none', async () => {
  const limits = [
    accountOf('a', 1000n),
    ownerOf('k', {
      rates: [rate('tokens-per-minute', 100), rate('concurrent-calls', 5), rate('images-per-minute', 2)],
    }),
  ];
  const hold = holdOf(await one.take(limits, demand(10n, { tokens: 60, images: 1 })));
  const before = one.limits.known(limits, 'alpha');
  expect(refusalOf(await one.take(limits, demand(10n, { tokens: 41, images: 1 })))).toMatchObject({
    limit: { kind: 'tokens-per-minute', amount: 100n, remaining: 40n },
    // What a running call will use is not known.
    retryAfterMs: minuteMs,
  });
  expect(one.limits.known(limits, 'alpha')).toEqual(before);
  hold.settle(taken(5n, 70, 1));
  expect(one.limits.known(limits, 'alpha').map(({ kind, remaining }) => [kind, remaining])).toEqual([
    ['balance', 995n],
    ['tokens-per-minute', 30n],
    ['concurrent-calls', 5n],
    ['images-per-minute', 1n],
  ]);
});

test('limits of a model count its calls alone', async () => {
  const limits = [
    ownerOf('k', { rates: [rate('requests-per-minute', 3), rate('requests-per-minute', 1, 'beta')] }),
  ];
  holdOf(await one.take(limits, demand(0n, { model: 'beta' })));
  expect(refusalOf(await one.take(limits, demand(0n, { model: 'beta' })))).toMatchObject({
    limit: { model: 'beta' },
  });
  holdOf(await one.take(limits, demand(0n)));
  expect(one.limits.known(limits, 'beta').map(({ remaining }) => remaining)).toEqual([1n, 0n]);
  expect(one.limits.known(limits, 'alpha')).toHaveLength(1);
});

test('of a burst exactly as many calls are admitted as a rate allows, and the next when it says so', async () => {
  const limits = [ownerOf('k', { rates: [rate('requests-per-minute', 100)] })];
  site.nowMs += 300;
  const results = await Promise.all(Array.from({ length: 500 }, () => one.take(limits, demand(0n))));
  expect(results.filter(({ ok }) => ok)).toHaveLength(100);
  const refusal = refusalOf(results.find(({ ok }) => !ok) ?? null);
  const retryAfterMs = refusal.kind === 'exceeded' ? (refusal.retryAfterMs ?? 0) : 0;
  expect(retryAfterMs).toBe(epochMs + minuteMs + 1_000 - site.nowMs);
  site.pass(retryAfterMs - 1);
  one.limits.tick();
  expect(await one.take(limits, demand(0n))).toMatchObject({ ok: false });
  site.pass(1);
  const next = await Promise.all(Array.from({ length: 500 }, () => one.take(limits, demand(0n))));
  expect(next.filter(({ ok }) => ok)).toHaveLength(100);
});

test('a flood of calls that are refused does not reach the store', async () => {
  const limits = [accountOf('a', 5n)];
  await one.take(limits, demand(10n));
  const before = one.exchanges.length;
  for (let call = 0; call < 1000; call++)
    expect(one.takeNow(limits, demand(10n))).toMatchObject({ ok: false });
  await turns();
  expect(one.exchanges).toHaveLength(before);
  // Less than what was refused may be there.
  holdOf(await one.take(limits, demand(5n)));
  site.credit('a', 10n);
  site.pass(250);
  holdOf(await one.take(limits, demand(10n)));
});

test('what one process does not need, another is given, and nobody more than there is', async () => {
  const limits = [accountOf('a', 100n), ownerOf('k', { rates: [rate('concurrent-calls', 4)] })];
  const holds = [holdOf(await one.take(limits, demand(30n)))];
  const other = site.start();
  for (let call = 0; call < 2; call++) {
    holds.push(holdOf(await other.take(limits, demand(30n), [one])));
    expect(one.takeNow(limits, demand(41n))).toBeNull();
  }
  expect(refusalOf(await other.take(limits, demand(30n), [one]))).toMatchObject({
    limit: { kind: 'balance' },
  });
  expect(refusalOf(await one.take(limits, demand(30n), [other]))).toMatchObject({
    limit: { kind: 'balance' },
  });
  holdOf(await one.take(limits, demand(10n), [other]));
  expect(refusalOf(await one.take(limits, demand(0n), [other]))).toMatchObject({
    limit: { kind: 'concurrent-calls' },
    retryAfterMs: 1000,
  });
});

test('the leases of a process that is paused are waited for, but not for long; those of a dead one are free', async () => {
  const limits = [accountOf('a', 100n)];
  holdOf(await one.take(limits, demand(30n)));
  const other = site.start();
  const startedAt = site.passedMs;
  expect(refusalOf(await other.take(limits, demand(50n)))).toMatchObject({ kind: 'exceeded' });
  expect(site.passedMs - startedAt).toBeGreaterThanOrEqual(1_000);
  expect(site.passedMs - startedAt).toBeLessThan(1_200);
  one.die();
  site.pass(1_000);
  holdOf(await other.take(limits, demand(100n)));
});

test('a large call is not overtaken by small ones for ever', async () => {
  const limits = [accountOf('a', 100n)];
  const small: HoldResult[] = [];
  const ended: string[] = [];
  for (let call = 0; call < 10; call++) small.push(await one.take(limits, demand(10n)));
  one.limits.take(limits, demand(50n), ({ ok }) => void ended.push(`large ${ok}`));
  one.limits.take(limits, demand(10n), ({ ok }) => void ended.push(`small ${ok}`));
  // The store is not asked in this turn any more, and what comes back now is the large one's first.
  for (const result of small.slice(0, 5)) holdOf(result).settle(taken(0n));
  expect(ended).toEqual(['large true']);
  holdOf(small[5] ?? null).settle(taken(0n));
  expect(ended).toEqual(['large true', 'small true']);
});

test('calls that have no limit in common do not wait for each other', async () => {
  const group = ownerOf('g', { owner: 'group', rates: [rate('concurrent-calls', 100)] });
  const narrow = [group, ownerOf('narrow', { rates: [rate('concurrent-calls', 1)] })];
  const wide = [group, ownerOf('wide', { rates: [rate('concurrent-calls', 50)] })];
  await one.take(narrow, demand(0n));
  await one.take(wide, demand(0n));
  one.fault = 'hang';
  one.limits.take(narrow, demand(0n), () => undefined);
  holdOf(one.takeNow(wide, demand(0n)));
});

test('who leaves takes nothing, and lets those behind it go on', async () => {
  const limits = [accountOf('a', 100n)];
  const first = holdOf(await one.take(limits, demand(60n)));
  const ended: string[] = [];
  const leave = one.limits.take(limits, demand(90n), () => void ended.push('left'));
  one.limits.take(limits, demand(40n), ({ ok }) => void ended.push(`stayed ${ok}`));
  leave?.();
  expect(ended).toEqual(['stayed true']);
  first.settle(taken(0n));
  await turns();
  holdOf(await one.take(limits, demand(60n)));
  expect(ended).toEqual(['stayed true']);
});

test('a hold is extended by all or nothing, and not after it is settled', async () => {
  const limits = [
    accountOf('a', 100n),
    ownerOf('k', { rates: [rate('tokens-per-minute', 50), rate('requests-per-minute', 1)] }),
  ];
  const hold = holdOf(await one.take(limits, demand(40n, { tokens: 10 })));
  const ended: unknown[] = [];
  const done = (refusal: unknown) => void ended.push(refusal);
  hold.extend(taken(40n, 10), done);
  await turns();
  expect(ended).toEqual([null]);
  hold.extend(taken(10n, 40), done);
  await turns();
  expect(ended).toMatchObject([null, { limit: { kind: 'tokens-per-minute' } }]);
  const other = holdOf(await one.take(limits.slice(0, 1), demand(20n)));
  hold.extend(taken(10n, 0), done);
  hold.settle(taken(75n, 15));
  await turns();
  hold.extend(taken(1n, 0), done);
  expect(ended).toHaveLength(2);
  other.settle(taken(20n));
  expect(one.limits.known(limits, 'alpha')).toMatchObject([
    { remaining: 5n },
    { remaining: 35n },
    { remaining: 0n },
  ]);
});

test('leases that nobody has used for a while go back, and all that is free when the process ends', async () => {
  const limits = [accountOf('a', 100n), ownerOf('k', { rates: [rate('tokens-per-minute', 50)] })];
  const hold = holdOf(await one.take(limits, demand(40n, { tokens: 10 })));
  one.settle(hold, owners, taken(30n, 10));
  one.feed();
  expect(outstanding()).toBeGreaterThan(0n);
  for (let second = 0; second < 40; second++) {
    site.pass(1_000);
    one.limits.tick();
    await turns();
  }
  expect(site.number('SELECT count(*) FROM leases')).toBe(0n);
  const running = holdOf(await one.take(limits, demand(20n, { tokens: 5 })));
  await one.limits.close();
  expect(outstanding()).toBe(25n);
  one.settle(running, owners, taken(20n, 5));
  await one.stop();
  expect(site.number('SELECT count(*) FROM leases')).toBe(0n);
  expect(one.takeNow(limits, demand(1n))).toMatchObject({ error: { kind: 'store-unavailable' } });
});

test('a limit that the operator changes holds for the next call', async () => {
  const at = (amount: bigint): readonly OwnerLimits[] => [
    ownerOf('k', { budgets: [{ span: 'total', amountNanoUsd: nanoUsd(amount) }] }),
  ];
  holdOf(await one.take(at(100n), demand(60n)));
  expect(await one.take(at(50n), demand(1n))).toMatchObject({
    error: { limit: { kind: 'total', amount: 50n, remaining: 0n } },
  });
  holdOf(await one.take(at(90n), demand(30n)));
  expect(await one.take(at(90n), demand(1n))).toMatchObject({ ok: false });
  // The same limits in other objects are the same limits.
  holdOf(await one.take(at(100n), demand(5n)));
  holdOf(one.takeNow(at(100n), demand(5n)));
});

test('a limit that is lowered is reached as calls end, however many others come', async () => {
  const at = (amount: number) => [ownerOf('k', { rates: [rate('concurrent-calls', amount)] })];
  const before = at(20);
  const holds = await Promise.all(
    Array.from({ length: 20 }, async () => holdOf(await one.take(before, demand(0n)))),
  );
  const limits = at(5);
  expect(await one.take(limits, demand(0n))).toMatchObject({ ok: false });
  for (const hold of holds.slice(0, 15)) {
    hold.settle(taken(0n));
    expect(await one.take(limits, demand(0n))).toMatchObject({ ok: false });
    site.pass(300);
  }
  holds[15]?.settle(taken(0n));
  holdOf(await one.take(limits, demand(0n)));
  expect(await one.take(limits, demand(0n))).toMatchObject({ ok: false });
  expect(outstanding()).toBe(5n);
});

test('what was asked for before a limit was lowered is not spent after it', async () => {
  const at = (amount: bigint) => [
    ownerOf('k', { budgets: [{ span: 'total', amountNanoUsd: nanoUsd(amount) }] }),
  ];
  one.limits.take(at(100n), demand(10n), () => undefined);
  await Promise.resolve();
  const limits = at(20n);
  one.limits.known(limits, 'alpha');
  await turns();
  expect(await one.take(limits, demand(21n))).toMatchObject({ ok: false });
});

test('a call that came before a limit was changed does not undo it', async () => {
  const [before, after] = [20, 1].map((amount) => [
    ownerOf('k', { rates: [rate('concurrent-calls', amount)] }),
  ]) as [OwnerLimits[], OwnerLimits[]];
  const idle = [ownerOf('idle', { rates: [rate('concurrent-calls', 1)] })];
  holdOf(await one.take(idle, demand(0n))).settle(taken(0n));
  holdOf(await one.take(before, demand(0n))).settle(taken(0n));
  const hold = holdOf(await one.take(after, demand(0n)));
  // Leases that are forgotten have all others looked up again.
  for (let second = 0; second < 65; second++) {
    site.pass(1_000);
    one.limits.tick();
    await turns();
  }
  expect(await one.take(after, demand(0n))).toMatchObject({ ok: false });
  expect(await one.take(before, demand(0n))).toMatchObject({ ok: false });
  hold.settle(taken(0n));
  holdOf(await one.take(after, demand(0n)));
  expect(await one.take(after, demand(0n))).toMatchObject({ ok: false });
});

test('what an operator takes back is not spent when a call that held it ends', async () => {
  const limits = [accountOf('a', 0n)];
  site.credit('a', 100n);
  const hold = holdOf(await one.take(limits, demand(90n)));
  site.credit('a', -60n);
  site.pass(50);
  one.limits.tick();
  await turns();
  hold.settle(taken(0n));
  expect(await one.take(limits, demand(41n))).toMatchObject({ ok: false });
  site.pass(300);
  holdOf(await one.take(limits, demand(40n)));
});

test('what an operator takes back is not spent by who has leased it', async () => {
  const limits = [accountOf('a', 0n)];
  site.credit('a', 100n);
  holdOf(await one.take(limits, demand(10n)));
  site.credit('a', -60n);
  site.pass(50);
  one.limits.tick();
  await turns();
  expect(await one.take(limits, demand(31n))).toMatchObject({ ok: false });
  holdOf(await one.take(limits, demand(30n)));
});

test.each(['refuse', 'hang'] as const)(
  'a store that does not answer (%s) refuses who needs it, and harms nobody else',
  async (fault) => {
    const limits = [accountOf('a', 100n)];
    holdOf(await one.take(limits, demand(10n)));
    one.fault = fault;
    holdOf(one.takeNow(limits, demand(10n)));
    const startedAt = site.passedMs;
    expect(refusalOf(await one.take(limits, demand(90n)))).toEqual({ kind: 'store-unavailable' });
    expect(site.passedMs - startedAt).toBeLessThanOrEqual(1_600);
  },
);

test('a lease whose answer was lost is not lost', async () => {
  const limits = [accountOf('a', 100n), ownerOf('k', { rates: [rate('requests-per-minute', 10)] })];
  one.fault = 'lose';
  one.limits.take(limits, demand(10n), () => undefined)?.();
  await turns();
  expect(outstanding()).toBe(101n);
  one.fault = null;
  site.pass(50);
  one.limits.tick();
  await turns();
  expect(holdOf(one.takeNow(limits, demand(100n)))).toBeDefined();
  expect(outstanding()).toBe(101n);
});

test('what is sent again goes by the time that it is then', async () => {
  const limits = [ownerOf('k', { rates: [rate('requests-per-minute', 10)] })];
  const other = site.start();
  one.fault = 'refuse';
  one.limits.take(limits, demand(0n), () => undefined)?.();
  await turns();
  site.pass(10 * minuteMs);
  for (let call = 0; call < 10; call++) holdOf(await other.take(limits, demand(0n)));
  site.pass(1_000);
  other.limits.tick();
  await turns();
  one.fault = null;
  one.limits.tick();
  await turns();
  expect(await one.take(limits, demand(0n), [other])).toMatchObject({ ok: false });
});

test('a budget begins anew with its window, which the time zone of its owner tells', async () => {
  const limits = [
    ownerOf('k', { budgets: [{ span: 'day', amountNanoUsd: nanoUsd(100n) }], timeZone: 'Asia/Kolkata' }),
  ];
  const resetsAtMs = epochMs + dayMs - 5.5 * 3_600_000;
  const hold = holdOf(await one.take(limits, demand(90n)));
  one.settle(hold, owners, taken(90n));
  one.feed();
  expect(refusalOf(await one.take(limits, demand(20n)))).toMatchObject({
    limit: { kind: 'day', amount: 100n, remaining: 10n, resetsAtMs },
    retryAfterMs: resetsAtMs - epochMs,
  });
  expect(refusalOf(await one.take(limits, demand(101n)))).toMatchObject({ retryAfterMs: null });
  site.pass(resetsAtMs - site.nowMs);
  expect(one.limits.known(limits, 'alpha')).toMatchObject([
    { remaining: 100n, resetsAtMs: resetsAtMs + dayMs },
  ]);
  holdOf(await one.take(limits, demand(100n)));
});

test('spending past a threshold is told once, soon after the calls that did it', async () => {
  const limits = [ownerOf('k', { budgets: [{ span: 'month', amountNanoUsd: nanoUsd(100n) }] })];
  const hold = holdOf(await one.take(limits, demand(85n)));
  one.settle(hold, owners, taken(85n));
  for (let second = 0; second < 8; second++) {
    site.pass(1_000);
    one.limits.tick();
    await turns();
    if (second === 1) one.feed();
  }
  expect(one.alerts).toEqual([
    [
      'budget-threshold',
      {
        ...{ subject: 'key:k', spentUsd: '0.000000085', budgetUsd: '0.0000001' },
        ...{ window: 'month 2026-03', endsAtMs: Date.UTC(2026, 3, 1) },
      },
    ],
  ]);
});

test('a balance that is exhausted is told of once, and when there is money again', async () => {
  const limits = [accountOf('a', 5n)];
  const other = site.start();
  await one.take(limits, demand(10n));
  site.pass(300);
  await other.take(limits, demand(10n), [one]);
  await one.take(limits, demand(1n), [other]);
  expect([...one.alerts, ...other.alerts]).toEqual([
    ['balance-exhausted', { account: 'a', availableUsd: '0.000000005', creditLimitUsd: '0.000000005' }],
  ]);
  site.credit('a', 100n);
  site.pass(300);
  await other.take(limits, demand(50n), [one]);
  expect(other.alerts).toEqual([['balance-exhausted is over', { account: 'a' }]]);
});

test('reports ask the store, which knows what others have spent', async () => {
  const limits = [accountOf('a', 100n), ownerOf('k', { rates: [rate('requests-per-minute', 10)] })];
  const other = site.start();
  const hold = holdOf(await other.take(limits, demand(10n)));
  other.settle(hold, owners, taken(10n));
  other.feed();
  expect(await one.limits.standings(limits)).toMatchObject([
    { kind: 'balance', amount: 90n, remaining: 90n },
    { kind: 'requests-per-minute', amount: 10n },
  ]);
  one.fault = 'refuse';
  await expect(one.limits.standings(limits)).rejects.toThrow('made by a test');
});

test('thousands whose wait ends at once are told in many turns, each once', async () => {
  const limits = [ownerOf('k', { rates: [rate('concurrent-calls', 1)] })];
  const first = holdOf(await one.take(limits, demand(1n)));
  const coming: (() => void)[] = [];
  one.nextTurn = (work) => void coming.push(work);
  one.fault = 'hang';
  const many = 5000;
  let told = 0;
  for (let call = 0; call < many; call++) one.limits.take(limits, demand(1n), () => void told++);
  site.pass(2000);
  one.limits.tick();
  const turnsTaken = [told];
  for (let work = coming.shift(); work !== undefined; work = coming.shift()) {
    const before = told;
    work();
    turnsTaken.push(told - before);
  }
  expect(told).toBe(many);
  expect(Math.max(...turnsTaken)).toBeLessThanOrEqual(50);
  first.settle(taken(0n));
});

test('what owners used who have gone quiet is forgotten, and what still counts is not', async () => {
  const limitsOf = (key: string) => [
    ownerOf(key, { rates: [rate('requests-per-minute', 60), rate('requests-per-day', 1000)] }),
  ];
  for (const key of ['quiet', 'loud']) holdOf(await one.take(limitsOf(key), demand(1n))).settle(taken(1n));
  site.pass(1000);
  one.limits.tick();
  await turns();
  const slots = () => Number(site.number('SELECT count(*) FROM rate_slots'));
  expect(slots()).toBe(4);
  for (const [passed, left] of [
    [10 * minuteMs, 2],
    [dayMs, 2],
    [3 * dayMs, 0],
  ] as const) {
    site.pass(passed);
    await one.take([accountOf(`asked-${passed}`, 100n)], demand(1n));
    expect(slots()).toBe(left);
  }
});
