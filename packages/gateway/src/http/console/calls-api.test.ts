import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noUsage } from '@headgate/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Actor } from '../../admin/people/actor.ts';
import { type NanoUsd, nanoUsd, readNanoUsd } from '../../money/money.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import {
  declaration,
  epochMs,
  sampleAttempt,
  sampleEntry,
  settle,
  traceId,
} from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { callsApi } from './calls-api.ts';
import { ConsoleApi } from './frame/console-api.ts';
import { Gate } from './frame/gate.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { overviewApi } from './overview-api.ts';

let directory = '';
let store: Store;
const nowMs = epochMs + 3_600_000;

const hostile = '=HYPERLINK("http://evil.example")<script>alert(1)</script>\u202e,"';

function call(at: number, changes: Partial<CallEntry> = {}): CallEntry {
  const startedAtMs = epochMs + at * 1000;
  return sampleEntry({
    traceId: startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12),
    startedAtMs,
    finishedAtMs: startedAtMs + 900,
    accountId: at % 2 === 0 ? 'account-1' : 'account-2',
    ...changes,
  });
}

const calls = [
  ...Array.from({ length: 8 }, (_, at) => call(at)),
  call(8, { tag: hostile, userAgent: hostile, errorCode: 'overloaded' }),
  call(9, {
    ...{ status: 'failed', unbilledReason: 'upstream_failed', errorCode: 'overloaded', ttftMs: null },
    ...{ chargeNanoUsd: nanoUsd(0n), usage: noUsage },
  }),
  call(10, {
    ...{ ttftMs: 700, durationMs: 900, multiplierPpm: 1_500_000n },
    attempts: [
      sampleAttempt({
        result: 'unreachable',
        ttftMs: null,
        durationMs: 200,
        usage: null,
        detail: 'secret host',
      }),
      sampleAttempt({ n: 2, ttftMs: 100, durationMs: 280 }),
    ],
  }),
];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-calls-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: console.error,
  });
  await store.configuration.apply('import', declaration, epochMs);
  await store.prepare();
  await Promise.all(calls.map((entry) => settle(store.ledger, entry)));
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const keyOf = () => ({ name: 'Key', accountId: 'account-1' });

function define(api: ConsoleApi): void {
  callsApi(api, {
    callTools: (scope) => ({
      store,
      reader: { isOperator: scope === 'all', nameOf: (id) => `name of ${id}` },
    }),
  });
  overviewApi(api, { overview: (scope) => ({ store, nowMs, isOperator: scope === 'all', keyOf }) });
}

const member: Actor = {
  ...{ kind: 'person', personId: 'p1', name: 'Person', isOperator: false, sessionId: 's', provenAtMs: 0 },
  ...{ memberships: [{ accountId: 'account-2', role: 'viewer' }], address: null },
};

type Item = Readonly<Record<string, unknown>>;
const items = (json: Item) => json['items'] as readonly Item[];

test('pages go on behind each other, the newest first, with all of the filter', async () => {
  const ask = testApi(define);
  const first = await ask('GET', '/calls?limit=4');
  expect(items(first.json).map((item) => item['traceId'])).toEqual(
    calls
      .slice(-4)
      .reverse()
      .map((it) => it.traceId),
  );
  const second = await ask('GET', `/calls?limit=4&cursor=${String(first.json['next'])}`);
  expect(items(second.json)[0]?.['traceId']).toBe(calls.at(-5)?.traceId);
  expect(items((await ask('GET', '/calls?error=overloaded&billed=false')).json)).toHaveLength(1);
  const trace = calls[3]?.traceId ?? '';
  expect(items((await ask('GET', `/calls?trace=${trace.toUpperCase()}`)).json)).toMatchObject([
    { traceId: trace, keyName: 'name of key-1', channelId: 'channel-1' },
  ]);
  const from = new Date(epochMs + 2000).toISOString();
  const to = new Date(epochMs + 5000).toISOString();
  expect(items((await ask('GET', `/calls?from=${from}&to=${to}`)).json)).toHaveLength(3);
  expect((await ask('GET', `/calls/sums?from=${from}&to=${to}`)).json).toMatchObject({
    calls: 3,
    isWhole: true,
    cost: '0.015',
  });
});

test('members see the calls of their accounts alone, without channels and costs', async () => {
  const ask = testApi(define, { actor: member });
  const { json } = await ask('GET', '/calls');
  expect(items(json)).toHaveLength(5);
  expect(JSON.stringify(json)).not.toMatch(/account-1|channel|"cost"/);
  expect((await ask('GET', '/calls/sums')).json).toMatchObject({ calls: 5 });
  expect(JSON.stringify((await ask('GET', '/calls/sums')).json)).not.toContain('cost');
  expect(items((await ask('GET', '/calls?account=account-1')).json)).toEqual([]);
  expect(await ask('GET', '/calls?channel=channel-1')).toMatchObject({
    status: 400,
    json: { errors: [{ field: 'channel' }] },
  });
  expect((await ask('GET', `/calls/${calls[0]?.traceId}`)).status).toBe(404);
  const own = await ask('GET', `/calls/${calls[1]?.traceId}`);
  expect(own.status).toBe(200);
  expect(JSON.stringify(own.json)).not.toMatch(/channel|upstreamModel|"cost"|margin|plans|secret/);
  expect((await ask('GET', '/overview?account=account-1')).status).toBe(404);
  expect(JSON.stringify((await ask('GET', '/overview')).json)).not.toMatch(/channel|"cost"/i);
});

test('a call tells its attempts and its charge, whose formula comes to the charge exactly', async () => {
  const ask = testApi(define);
  for (const entry of calls.filter(({ unbilledReason }) => unbilledReason === null)) {
    const { json } = await ask('GET', `/calls/${entry.traceId}`);
    const { lines, multiplier } = json['formula'] as {
      lines: { units: string; price: string; factor: string }[];
      multiplier: string;
    };
    const sum = lines.reduce(
      (total, { units, price, factor }) => total + BigInt(units) * whole(price, 12) * whole(factor, 6),
      0n,
    );
    expect(roundHalfEven(sum * whole(multiplier, 6), 10n ** 15n)).toBe(entry.chargeNanoUsd);
    const charge = readNanoUsd(String(json['charge']));
    expect(charge as NanoUsd).toBe(entry.chargeNanoUsd);
  }
  const { json } = await ask('GET', `/calls/${calls[10]?.traceId}`);
  expect(json['tries']).toMatchObject([
    {
      n: 1,
      startMs: 0.31,
      endMs: 200.31,
      firstContentMs: null,
      channelId: 'channel-1',
      detail: 'secret host',
    },
    { n: 2, startMs: 600, firstContentMs: 700, endMs: 880, isStartKnown: true },
  ]);
  expect(json['plans']).toMatchObject([
    { candidateCount: 1, candidates: [{ channel: 'channel-1', expectedCost: '0.00000124' }] },
  ]);
  expect((await ask('GET', `/calls/${'0'.repeat(32)}`)).status).toBe(404);
});

function whole(text: string, digits: number): bigint {
  const [units = '', fraction = ''] = text.split('.');
  return BigInt(units + fraction.padEnd(digits, '0'));
}

function roundHalfEven(value: bigint, unit: bigint): bigint {
  const [quotient, rest] = [value / unit, (value % unit) * 2n];
  return rest > unit || (rest === unit && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

test('an export is all of the filter, in files that spreadsheets do not run', async () => {
  const api = new ConsoleApi({
    gate: new Gate({
      operatorToken: 'operator',
      consoleOrigin: null,
      findPerson: () => Promise.resolve(null),
      now: () => 0,
    }),
    creates: null,
  });
  define(api);
  const get = async (query: string) => {
    const response = await api
      .hono()
      .request(`/api/v1/calls/export?${query}`, { headers: { authorization: 'Bearer operator' } });
    return { type: response.headers.get('content-type'), text: await response.text() };
  };
  const { text, type } = await get('format=ndjson&account=account-1');
  expect(type).toContain('application/x-ndjson');
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Item);
  expect(rows.map((row) => row['traceId'])).toEqual(
    calls
      .filter(({ accountId }) => accountId === 'account-1')
      .map((it) => it.traceId)
      .reverse(),
  );
  const csv = (await get(`format=csv&tag=${encodeURIComponent(hostile.replace('\u202e', ''))}`)).text;
  expect(csv.split('\r\n')).toHaveLength(2);
  const all = (await get('format=csv')).text;
  expect(all).toContain(`"'=HYPERLINK(""http`);
  expect(all.trimEnd().split('\r\n')).toHaveLength(calls.length + 1);
});

test('an export that nobody reads on gives its place back, and one too many is refused', async () => {
  const api = new ConsoleApi({
    gate: new Gate({
      operatorToken: 'operator',
      consoleOrigin: null,
      findPerson: () => Promise.resolve(null),
      now: () => 0,
    }),
    creates: null,
  });
  define(api);
  const hono = api.hono();
  const open = () =>
    hono.request('/api/v1/calls/export?format=csv', { headers: { authorization: 'Bearer operator' } });
  const [first, second] = [await open(), await open()];
  expect((await open()).status).toBe(503);
  await first.body?.cancel();
  const third = await open();
  expect(third.status).toBe(200);
  await Promise.all([second.text(), third.text()]);
});

test('an overview has every step of its range, also those without calls', async () => {
  const ask = testApi(define);
  const { json } = await ask('GET', '/overview?range=7d');
  expect(json).toMatchObject({ range: '7d', stepMs: 21_600_000, attention: [] });
  expect(json['points']).toHaveLength(28);
  expect((await ask('GET', '/overview?range=1y')).status).toBe(400);
});
