import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainRouting } from '../packages/gateway/src/catalogue/catalogue.ts';
import { noLimits } from '../packages/gateway/src/catalogue/limits.ts';
import { ReportDesk } from '../packages/gateway/src/http/report-desk.ts';
import type { Store } from '../packages/gateway/src/ports/store.ts';
import { openSqliteStore } from '../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { busyKey, makeUsageStore, quietKey, rareModel } from '../tools/bench/usage-store.ts';
import { isSlow } from './support/slow-form.ts';

/** `node tools/bench/usage.ts` measures the same at ten million, and bounds the median; here other tests run beside. */
const calls = isSlow ? 500_000 : 30_000;
const leastMsMax = 60;
const clock = { now: Date.now, monotonic: () => performance.now() };
const directory = mkdtempSync(join(tmpdir(), 'headgate-usage-flat-'));
let store: Store;
let desk: ReportDesk;

beforeAll(async () => {
  const file = join(directory, 'headgate.sqlite');
  makeUsageStore(file, calls, () => undefined);
  store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: () => undefined });
  desk = new ReportDesk({ reports: store.reports, holds: { standings: () => Promise.resolve([]) } }, clock);
}, 300_000);
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const group = {
  ...({ id: 'team', name: 'Team', platform: 'completions', multiplierPpm: 1_000_000n } as const),
  ...{ models: null, routing: plainRouting },
};

async function ask(question: string, keyId: string): Promise<string> {
  const caller = {
    ...{
      keyId,
      keyName: keyId,
      accountId: 'account',
      group,
      models: null,
      strict: false,
      addressRanges: null,
    },
    ...{ createdAtMs: 0, expiresAtMs: null, limits: noLimits, multipliers: null },
  };
  const answer = await desk.usage(question, caller, () => undefined);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value.body;
}

test.each([
  '',
  'days=90&timezone=Asia/Kathmandu&limit=200',
  `days=90&model=${rareModel}`,
  'days=90&model=nothing',
  'days=90&billed=false',
  'days=90&status=interrupted',
])(`/v1/usage?%s is quick with ${calls} calls`, async (question) => {
  for (const key of [busyKey, quietKey]) {
    const spent: number[] = [];
    for (let time = 0; time < 15; time++) {
      const since = performance.now();
      await ask(question, key);
      spent.push(performance.now() - since);
    }
    expect(Math.min(...spent)).toBeLessThan(leastMsMax);
  }
});

test('the sums of all lengths are those of the calls', async () => {
  const { findings } = await store.verify();
  expect(findings.filter(({ rule }) => /sums/.test(rule))).toEqual([]);
  const { usage } = JSON.parse(await ask('days=90&limit=1', busyKey)) as {
    usage: { total: { calls: number } };
  };
  expect(usage.total.calls).toBe(calls / 2);
});
