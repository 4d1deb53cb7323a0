import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { chatRequest, exchange } from './support/raw-http.ts';

const native = { 'generate-content': '/models/{model}:{action}' };
const chat = { 'chat-completions': '/chat/completions' };
/** An upstream of the native protocol has no word for it. */
const lossy = { logit_bias: { 5: 3 } };

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  const models = { rescued: 'sim+tokens=1', lost: 'sim+tokens=1', waits: 'sim+tokens=1' };
  gateway = await openTestGateway({
    channels: [
      // More of them than attempts may be made, and than a plan names.
      ...Array.from({ length: 20 }, (_, n) => ({ id: `n${n + 1}`, origin, protocols: native, models })),
      { id: 'own', origin, protocols: chat, models: { rescued: 'sim+tokens=1' } },
      { id: 'busy', origin, protocols: chat, models: { waits: 'sim+fault=429,retry-after=60s' } },
    ],
    moreKeys: { strict: { strict: true } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function ask(model: string, key: string | undefined) {
  const body = { model, messages: [{ role: 'user', content: 'hi' }], ...lossy };
  const answer = await exchange(gateway.apiOrigin, chatRequest(key ?? '', body));
  return { ...answer, entry: await entryOf(gateway, answer.headers.get('x-trace-id')) };
}

test('a strict key passes over channels that would lose part of the request, however many', async () => {
  const { status, headers, entry } = await ask('rescued', gateway.moreKeys['strict']);
  expect(status).toBe(200);
  expect(headers.get('x-headgate-attempts')).toBe('1');
  expect(headers.has('x-headgate-losses')).toBe(false);
  expect(entry).toMatchObject({ status: 'complete', channelId: 'own', losses: [], attempts: [{ n: 1 }] });
});

test('where all would, the field is named, and no one is asked', async () => {
  const before = simulator.requests.length;
  const { status, body, headers, entry } = await ask('lost', gateway.moreKeys['strict']);
  expect(status).toBe(400);
  expect(JSON.parse(String(body))).toMatchObject({ error: { param: 'logit_bias', code: 'invalid_request' } });
  expect(headers.get('x-should-retry')).toBe('false');
  expect(simulator.requests.length).toBe(before);
  expect(entry).toMatchObject({ status: 'failed', unbilledReason: 'refused_by_gateway', attempts: [] });
});

test('where the one that would not has to wait, the caller is told to wait, each time', async () => {
  for (const attempts of [1, 0]) {
    const { status, headers, entry } = await ask('waits', gateway.moreKeys['strict']);
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
    expect(entry.attempts).toHaveLength(attempts);
  }
});

test('any other key is told what was lost', async () => {
  const { status, headers, entry } = await ask('lost', gateway.keys.completions);
  expect(status).toBe(200);
  expect(headers.get('x-headgate-losses')).toBe('logit_bias');
  expect(entry).toMatchObject({ status: 'complete', channelId: 'n1', losses: ['logit_bias'] });
});
