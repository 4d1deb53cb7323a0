import { noUsage } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { plainRouting } from '../catalogue/catalogue.ts';
import { noLimits } from '../catalogue/limits.ts';
import { nanoUsd } from '../money/money.ts';
import { StoreUnavailable } from '../ports/store.ts';
import type { UsageReports } from '../ports/usage-report.ts';
import { ReportDesk } from './report-desk.ts';

const group = {
  id: 'team',
  name: 'Team',
  platform: 'completions',
  multiplierPpm: 1_000_000n,
  models: null,
  routing: plainRouting,
} as const;

function callerOf(keyId: string, accountId: string) {
  return {
    ...{ keyId, accountId, group, keyName: keyId, models: null, strict: false, addressRanges: null },
    ...{ createdAtMs: 0, expiresAtMs: null, limits: noLimits, multipliers: null },
  };
}

const none = { calls: 0, billedCalls: 0, usage: noUsage, chargeNanoUsd: nanoUsd(0n) };

/** A desk whose reports wait, each part of them, until they are let go on. */
function deskOf(catchUp: () => Promise<number | null> = () => Promise.resolve(null)) {
  let nowMs = 0;
  let goOn: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => goOn.push(resolve));
  const reports: UsageReports = {
    catchUp: async () => {
      await wait();
      return catchUp();
    },
    totals: () => Promise.resolve(none),
    series: () => Promise.resolve([]),
    byModel: () => Promise.resolve({ models: [], nextCursor: null }),
    page: () => Promise.resolve({ entries: [], next: null, searchedToMs: null }),
    sisters: () => Promise.resolve(null),
    find: () => Promise.resolve(null),
    balance: () => Promise.resolve({ balanceNanoUsd: nanoUsd(0n), isShown: false }),
  };
  const desk = new ReportDesk(
    { reports, holds: { standings: () => Promise.resolve([]) } },
    { now: () => 0, monotonic: () => nowMs },
  );
  const troubles: string[] = [];
  return {
    troubles,
    ask: (keyId: string, accountId = keyId) =>
      desk.usage('', callerOf(keyId, accountId), (trouble) => troubles.push(trouble.message)),
    answer(afterMs = 0) {
      nowMs += afterMs;
      for (const resolve of goOn) resolve();
      goOn = [];
    },
  };
}

test('a key that has two reports under way is told to wait, and nobody else is', async () => {
  const { ask, answer } = deskOf();
  const asked = [ask('a'), ask('a')];
  expect(await ask('a')).toMatchObject({ ok: false, error: { code: 'rate_limited', retryAfterMs: 1000 } });
  asked.push(ask('b'));
  answer();
  expect((await Promise.all(asked)).map(({ ok }) => ok)).toEqual([true, true, true]);
  const again = ask('a');
  answer();
  expect(await again).toMatchObject({ ok: true });
});

test('an account has a share, whatever number of keys it has', async () => {
  const { ask, answer } = deskOf();
  const asked = ['a', 'b', 'c', 'd'].map((key) => ask(key, 'house'));
  expect(await ask('e', 'house')).toMatchObject({ ok: false, error: { code: 'rate_limited' } });
  asked.push(ask('f', 'other'));
  answer();
  expect((await Promise.all(asked)).every(({ ok }) => ok)).toBe(true);
});

test('their number has a bound', async () => {
  const { ask, answer } = deskOf();
  const asked = Array.from({ length: 32 }, (_, at) => ask(`key-${at}`));
  expect(await ask('one-more')).toMatchObject({ ok: false, error: { code: 'overloaded', status: 503 } });
  answer();
  expect((await Promise.all(asked)).every(({ ok }) => ok)).toBe(true);
});

test('one that takes too long is given up, and its place is free', async () => {
  const { ask, answer } = deskOf();
  const asked = [ask('a'), ask('a')];
  answer(10_000);
  for (const answered of await Promise.all(asked))
    expect(answered).toMatchObject({ ok: false, error: { code: 'overloaded', retryAfterMs: 1000 } });
  const again = ask('a');
  answer();
  expect(await again).toMatchObject({ ok: true });
});

test('a store that cannot be asked is 503 and an alert, and what is a bug stays one', async () => {
  const locked = deskOf(() => Promise.reject(new StoreUnavailable('locked')));
  const asked = locked.ask('a');
  locked.answer();
  expect(await asked).toMatchObject({ ok: false, error: { code: 'store_unavailable', status: 503 } });
  expect(locked.troubles).toEqual(['locked']);
  const wrong = deskOf(() => Promise.reject(new Error('a bug')));
  const failing = wrong.ask('a');
  wrong.answer();
  await expect(failing).rejects.toThrow('a bug');
});
