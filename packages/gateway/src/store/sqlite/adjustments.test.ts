import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type NanoUsd, nanoUsd } from '../../money/money.ts';
import type { Adjustment } from '../../ports/accounts.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, sampleEntry, settle } from '../contract/samples.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { SameThreadLane } from './same-thread-lane.ts';

const worker = new URL('../contract/crediting-worker.ts', import.meta.url);
let directory: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-adjustments-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  await store.configuration.apply('file', declaration, epochMs);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function adjustment(amount: bigint, more: Partial<Adjustment> = {}): Adjustment {
  const id = `adj-${amount}-${more.reference ?? ''}`;
  const words = { reason: 'why', reference: null, madeBy: 'test', atMs: epochMs };
  return { id, accountId: 'account-1', amountNanoUsd: nanoUsd(amount), ...words, ...more };
}

const balance = async (accountId: string): Promise<NanoUsd | undefined> =>
  (await store.accounts.money()).find((each) => each.accountId === accountId)?.balanceNanoUsd;

test('one reference is one posting, however many processes bring it at once', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const child = fork(worker, [join(directory, 'headgate.sqlite'), '10'], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const [kinds] = (await once(child, 'message')) as [readonly string[]];
      return kinds;
    }),
  );
  const kinds = outcomes.flat();
  expect(kinds).toHaveLength(50);
  expect(kinds.filter((kind) => kind === 'posted')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'known')).toHaveLength(49);
  expect(await balance('account-2')).toBe(7n);
  expect(await store.accounts.adjustments('account-2', 100)).toHaveLength(1);
  expect(await store.verify()).toMatchObject({ findings: [] });
}, 60_000);

test('calls and adjustments move one balance, which is the fold of all postings', async () => {
  await store.accounts.adjust(adjustment(10_000_000_000n), false);
  const entry = sampleEntry({ chargeNanoUsd: sampleEntry().chargeNanoUsd });
  await settle(store.ledger, entry);
  await store.accounts.adjust(adjustment(-1n), false);
  await store.catchUp();
  expect(await balance('account-1')).toBe(10_000_000_000n - entry.chargeNanoUsd - 1n);
  expect(await store.accounts.spent('account:account-1', [null])).toEqual([entry.chargeNanoUsd]);
  expect(await store.verify()).toMatchObject({ findings: [] });
});

test('an amount that no balance can hold is refused, and nothing is written', async () => {
  const largest = 2n ** 62n;
  expect(await store.accounts.adjust(adjustment(largest), false)).toMatchObject({ kind: 'posted' });
  expect(await store.accounts.adjust(adjustment(1n), false)).toEqual({ kind: 'too-large' });
  const other = { accountId: 'account-2' };
  expect(await store.accounts.adjust(adjustment(2n, other), false)).toEqual({ kind: 'too-large' });
  expect(await store.accounts.adjustments('account-1', 9)).toHaveLength(1);
  expect(await store.verify()).toMatchObject({ findings: [] });
});

test('an account that is not there is not credited', async () => {
  const result = await store.accounts.adjust(adjustment(5n, { accountId: 'nobody' }), true);
  expect(result).toEqual({ kind: 'unknown-account' });
});
