import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { exchange, request } from './support/raw-http.ts';

let simulator: Simulator;
let gateway: TestGateway;

const elsewhere = ['203.0.113.0/24', '2001:db8::/32'];

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [{ id: 'a', origin: simulator.origin, models: { demo: 'sim+tokens=2' } }],
    flags: { 'trusted-proxies': '127.0.0.0/8' },
    moreKeys: {
      here: { addressRanges: ['127.0.0.1'] },
      completions2: { addressRanges: elsewhere },
      messages2: { addressRanges: elsewhere, group: 'messages' },
      native2: { addressRanges: elsewhere, group: 'native' },
    },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

function ask(path: string, key: string, forwarded: string | null) {
  const headers = [`authorization: Bearer ${key}`, `x-api-key: ${key}`, `x-goog-api-key: ${key}`];
  const told = forwarded === null ? [] : [`x-forwarded-for: ${forwarded}`];
  return exchange(gateway.apiOrigin, request(`GET ${path}`, [...headers, ...told]));
}

const paths = { completions2: '/v1/models', messages2: '/v1/models', native2: '/v1beta/models' } as const;

test.each(Object.entries(paths))('%s: 403 in the words of its surface', async (key, path) => {
  const secret = gateway.moreKeys[key] ?? '';
  const refused = await ask(path, secret, null);
  expect(refused.status).toBe(403);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect(refused.body.toString()).toContain('127.0.0.1');
  // A caller that writes the header itself is still where the proxy saw it.
  expect((await ask(path, secret, '203.0.113.9, 198.51.100.1')).status).toBe(403);
  expect((await ask(path, secret, '198.51.100.1, 203.0.113.9')).status).toBe(200);
  expect((await ask(path, secret, '2001:db8::9')).status).toBe(200);
});

test('every endpoint is closed, usage among them, and a key at its address is open', async () => {
  for (const path of ['/v1/usage', '/v1/models/demo', '/v1/models'])
    expect((await ask(path, gateway.moreKeys['completions2'] ?? '', null)).status).toBe(403);
  expect((await ask('/v1/usage', gateway.moreKeys['here'] ?? '', null)).status).toBe(200);
  expect((await ask('/v1/usage', gateway.moreKeys['here'] ?? '', '198.51.100.1')).status).toBe(403);
});
