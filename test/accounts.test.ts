import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { runHeadgate } from './support/process.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const channel = { id: 'main', origin: simulator.origin, models: { m: 'sim-fast+tokens=7' } };
  gateway = await openTestGateway({
    channels: [channel],
    accounts: { partner: { prepaid: true } },
    moreKeys: { partner: { account: 'partner' } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

/** The command in a process of its own, beside the gateway. */
async function headgate(...words: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout } = await runHeadgate([...words, '--json'], { dataDir: gateway.dataDir });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function call(key: string | undefined): Promise<number> {
  const answer = await fetch(`${gateway.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'one two' }] }),
  });
  await answer.text();
  return answer.status;
}

async function ask(method: string, path: string, body?: object) {
  const token = readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${gateway.consoleOrigin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

test('a prepaid account is refused until a command credits it beside the running gateway', async () => {
  const key = gateway.moreKeys['partner'];
  expect(await call(key)).toBe(402);
  const credited = await headgate('accounts', 'credit', 'partner', '1.00', '--reason', 'Invoice 1');
  expect(credited).toMatchObject({ balance: '1', isNew: true });
  await vi.waitFor(async () => expect(await call(key)).toBe(200), { timeout: 10_000, interval: 200 });
  const { json } = await ask('GET', '/accounts/partner');
  expect(json).toMatchObject({ account: { adjustments: [{ amount: '1', reason: 'Invoice 1' }] } });
  // What the call has cost is in the balance that both show.
  const shown = await headgate('accounts', 'show', 'partner');
  expect(shown['account']).toMatchObject({
    money: { balance: expect.stringMatching(/^0\.9999/) as unknown },
  });
}, 60_000);

test('the console port adds accounts and keeps the limits of what a file declares', async () => {
  expect(await ask('POST', '/accounts', { id: 'second', prepaid: true, creditLimit: '2.5' })).toMatchObject({
    status: 201,
  });
  const listed = await headgate('accounts', 'list');
  expect(listed['accounts']).toContainEqual(
    expect.objectContaining({ id: 'second', creditLimit: '2.5', available: '2.5', source: 'operator' }),
  );
  expect(await ask('PATCH', '/accounts/partner', { budgets: { day: '1' } })).toMatchObject({
    status: 409,
    json: { code: 'conflict' },
  });
  expect((await fetch(`${gateway.consoleOrigin}/api/v1/accounts`)).status).toBe(401);
}, 60_000);
