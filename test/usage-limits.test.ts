import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { callAs } from './support/limited-calls.ts';
import { exchange, request } from './support/raw-http.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [{ id: 'a', origin: simulator.origin, models: { fixed: 'sim-fast+tokens=3' } }],
    prices: { fixed: { input: '0', output: '0', perCall: '0.01' } },
    accounts: {
      shown: { prepaid: true, creditLimit: '0.02', showBalance: true },
      hidden: { prepaid: true, creditLimit: '0.01' },
    },
    moreKeys: {
      free: {},
      metered: { budgets: { day: '0.02', total: '5' }, limits: { requestsPerMinute: 7 } },
      open: { account: 'shown' },
      closed: { account: 'hidden' },
    },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function usage(keyId: string): Promise<Record<string, unknown>> {
  const key = gateway.moreKeys[keyId] ?? '';
  const answer = await exchange(
    gateway.apiOrigin,
    request('GET /v1/usage', [`authorization: Bearer ${key}`]),
  );
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body.toString()) as Record<string, unknown>;
}

const call = async (keyId: string) => (await callAs(gateway, keyId, 'chat-completions', 'fixed')).status;

test('a key without limits is unrestricted', async () => {
  expect(await call('free')).toBe(200);
  const unrestricted = {
    mode: 'unrestricted',
    status: 'active',
    quota: null,
    remaining: null,
    exhausted: [],
  };
  expect(await usage('free')).toMatchObject({ ...unrestricted, budgets: [], rate_limits: [] });
});

test('a key sees its budgets and rates come down, and can still ask when nothing is left', async () => {
  const before = await usage('metered');
  expect(before).toMatchObject({
    ...{ mode: 'quota_limited', status: 'active', remaining: '0.02', exhausted: [] },
    quota: { of: 'key', kind: 'day', limit: '0.02', used: '0', remaining: '0.02', unit: 'USD' },
    budgets: [{ kind: 'day' }, { kind: 'total', limit: '5', used: '0', reset_at: null }],
    rate_limits: [{ of: 'key', kind: 'requests-per-minute', window: '1m', limit: 7, used: 0, remaining: 7 }],
  });
  const midnight = new Date(Math.ceil((Date.now() + 1) / 86_400_000) * 86_400_000).toISOString();
  expect(before['quota']).toMatchObject({ reset_at: midnight });
  expect(await call('metered')).toBe(200);
  expect(await usage('metered')).toMatchObject({
    ...{ remaining: '0.01', remaining_nano_usd: 10_000_000 },
    quota: { used: '0.01', used_nano_usd: 10_000_000, remaining: '0.01' },
    rate_limits: [{ used: 1, remaining: 6 }],
  });
  expect([await call('metered'), await call('metered')]).toEqual([200, 402]);
  expect(await usage('metered')).toMatchObject({
    ...{ isValid: true, status: 'exhausted', remaining: '0' },
    exhausted: [{ of: 'key', kind: 'day', model: null, reset_at: midnight }],
    usage: { total: { billed_calls: 2, charge: '0.02' } },
  });
});

test('an account tells its keys what is left where it shows its balance, and else only that nothing is', async () => {
  expect(await call('open')).toBe(200);
  expect(await usage('open')).toMatchObject({
    ...{
      mode: 'quota_limited',
      status: 'active',
      balance: '-0.01',
      balance_of: 'account',
      remaining: '0.01',
    },
    quota: null,
  });
  const hidden = { mode: 'unrestricted', quota: null, budgets: [], rate_limits: [], balance_of: 'key' };
  expect(await usage('closed')).toMatchObject({
    ...hidden,
    status: 'active',
    remaining: null,
    exhausted: [],
  });
  expect([await call('closed'), await call('closed')]).toEqual([200, 402]);
  expect(await usage('closed')).toMatchObject({
    ...{ ...hidden, status: 'exhausted', remaining: '0' },
    exhausted: [{ of: 'account', kind: 'balance', reset_at: null }],
  });
});

test('a key that nobody knows is refused, as everywhere', async () => {
  const unknown = await exchange(
    gateway.apiOrigin,
    request('GET /v1/usage', ['authorization: Bearer sk-nobody']),
  );
  expect([unknown.status, JSON.parse(unknown.body.toString())]).toMatchObject([
    401,
    { error: { code: 'invalid_api_key' } },
  ]);
});
