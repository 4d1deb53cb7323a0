import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../admin/people/actor.ts';
import { nanoUsd } from '../../money/money.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, sampleEntry, settle, traceId } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { spendApi } from './spend-api.ts';

const dayMs = 86_400_000;
const nowMs = epochMs + 10 * dayMs;
const formula = '=HYPERLINK("http://evil.example")';
let directory = '';
let store: Store;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-spend-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: console.error,
  });
  await store.configuration.apply('import', declaration, epochMs);
  await store.prepare();
  const calls = Array.from({ length: 9 }, (_, at) => {
    const startedAtMs = epochMs + at * dayMs;
    return sampleEntry({
      traceId: startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12),
      ...{ startedAtMs, finishedAtMs: startedAtMs + 900, chargeNanoUsd: nanoUsd(1_000_000_000n) },
      ...{ accountId: `account-${at % 3}`, keyId: `key-${at % 3}`, tag: at === 8 ? formula : null },
    });
  });
  await Promise.all(calls.map((entry) => settle(store.ledger, entry)));
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function define(api: ConsoleApi): void {
  spendApi(api, {
    spend: (scope) => ({
      ...{ store, nowMs, isOperator: scope === 'all' },
      keyOf: (id) => ({ name: `name of ${id}` }),
    }),
  });
}

const viewer: Actor = {
  ...{ kind: 'person', personId: 'p1', name: 'Person', isOperator: false, sessionId: 's', provenAtMs: 0 },
  ...{ memberships: [{ accountId: 'account-2', role: 'viewer' }], address: null },
};

test.each([
  ['key', 3, '3.00'],
  ['account', 3, '3.00'],
  ['model', 1, '9.00'],
  ['channel', 1, '9.00'],
  ['group', 1, '9.00'],
  ['day', 9, '1.00'],
  ['tag', 2, '8.00'],
])('by %s there are %i rows, and all of them together are the total', async (by, rows, dearest) => {
  const { status, json } = await testApi(define)('GET', `/spend?by=${by}`);
  expect(status).toBe(200);
  const items = json['items'] as readonly { readonly charge: string }[];
  expect(items).toHaveLength(rows);
  expect(Number(items[0]?.charge)).toBe(Number(dearest));
  expect(json).toMatchObject({ by, others: null, total: { calls: 9, charge: '9' } });
});

test('rows beyond the limit are summed up in one, and nothing is lost', async () => {
  const { json } = await testApi(define)('GET', '/spend?by=day&limit=4');
  expect(json).toMatchObject({ others: { count: 5, calls: 5, charge: '5' }, total: { charge: '9' } });
});

test('filters narrow the report, and keys have their names beside their ids', async () => {
  const from = new Date(epochMs + 3 * dayMs).toISOString();
  const to = new Date(epochMs + 6 * dayMs).toISOString();
  const { json } = await testApi(define)('GET', `/spend?key=key-1&from=${from}&to=${to}`);
  expect(json).toMatchObject({
    items: [{ id: 'key-1', name: 'name of key-1', calls: 1, charge: '1' }],
    total: { calls: 1 },
  });
});

test('members see their accounts alone, without channels and costs', async () => {
  const ask = testApi(define, { actor: viewer });
  const { json } = await ask('GET', '/spend?by=account');
  expect(json).toMatchObject({ items: [{ id: 'account-2', calls: 3 }], total: { calls: 3, charge: '3' } });
  expect(JSON.stringify(json)).not.toMatch(/cost|margin|unknown/);
  expect(await ask('GET', '/spend?account=account-1')).toMatchObject({
    json: { items: [], total: { calls: 0 } },
  });
  for (const [query, field] of [
    ['by=channel', 'by'],
    ['channel=channel-1', 'channel'],
  ])
    expect(await ask('GET', `/spend?${query}`)).toMatchObject({ status: 400, json: { errors: [{ field }] } });
});

test.each([
  ['by=colour', 'by'],
  ['limit=0', 'limit'],
  ['from=yesterday', 'from'],
  ['from=2026-11-02T00:00:00.000Z&to=2026-11-01T00:00:00.000Z', 'to'],
])('%s is refused by its name', async (query, field) => {
  expect(await testApi(define)('GET', `/spend?${query}`)).toMatchObject({
    status: 400,
    json: { errors: [{ field }] },
  });
});

test('the table of it is whole, exact, and holds no formula', async () => {
  const text = await tableOf('by=tag');
  const [titles, ...lines] = text.trim().split('\n');
  expect(titles).toBe(
    'tag,calls,billed_calls,input_tokens,output_tokens,charge_usd,cost_usd,margin_usd,unknown_costs',
  );
  expect(lines).toHaveLength(2);
  expect(text).toContain(`"'${formula.replaceAll('"', '""')}"`);
  expect(text).not.toMatch(/(^|,)"?=/m);
  expect((await tableOf('by=day', viewer)).split('\n')[0]).toBe(
    'day,calls,billed_calls,input_tokens,output_tokens,charge_usd',
  );
});

async function tableOf(query: string, actor?: Actor): Promise<string> {
  const ask = testApi(define, actor === undefined ? {} : { actor });
  const { text } = await ask('GET', `/spend/export?${query}`);
  return text;
}
