import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleOrigins } from '../packages/gateway/src/http/cors.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { chatRequest, exchange, request } from './support/raw-http.ts';

const page = 'https://app.example.com';

let simulator: Simulator;
let open: TestGateway;
let closed: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const channels = [{ id: 'a', origin: simulator.origin, models: { demo: 'sim+tokens=2' } }];
  open = await openTestGateway({ channels, flags: { 'cors-origins': page } });
  closed = await openTestGateway({ channels });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
  await simulator.close();
});

function preflight(origin: string): Buffer {
  const asked = [
    'access-control-request-method: POST',
    'access-control-request-headers: authorization,content-type',
  ];
  return request('OPTIONS /v1/chat/completions', [`origin: ${origin}`, ...asked]);
}

test('a configured page may ask, and read answers, streams and errors', async () => {
  const allowed = await exchange(open.apiOrigin, preflight(page));
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get('access-control-allow-origin')).toBe(page);
  expect(allowed.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
  expect(allowed.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  const body = { model: 'demo', messages: [{}] };
  for (const [key, sent, status] of [
    [open.keys.completions, body, 200],
    [open.keys.completions, { ...body, stream: true }, 200],
    ['sk-wrong', body, 401],
  ] as const) {
    const answer = await exchange(open.apiOrigin, chatRequest(key, sent, [`origin: ${page}`]));
    expect(answer).toMatchObject({ status, isWhole: true });
    expect(answer.headers.get('access-control-allow-origin')).toBe(page);
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-should-retry');
    expect(answer.headers.get('vary')).toBe('origin');
  }
});

test('the console’s own pages may, by each name of this machine', async () => {
  const { port } = new URL(closed.consoleOrigin);
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const allowed = await exchange(closed.apiOrigin, preflight(`http://${host}:${port}`));
    expect(allowed).toMatchObject({ status: 204 });
    expect(allowed.headers.get('access-control-allow-origin')).toBe(`http://${host}:${port}`);
  }
  const other = await exchange(closed.apiOrigin, preflight(`https://127.0.0.1:${port}`));
  expect(other.headers.has('access-control-allow-origin')).toBe(false);
});

test.each([
  ['https://console.example.com', 'http://127.0.0.1:8081', ['https://console.example.com']],
  [null, 'http://0.0.0.0:8081', ['http://127.0.0.1:8081', 'http://localhost:8081', 'http://[::1]:8081']],
  [null, 'http://10.1.2.3:80', ['http://10.1.2.3']],
])('a console named %s that listens at %s has the origins %j', (named, listening, origins) => {
  expect(consoleOrigins(named, listening)).toEqual(origins);
});

test('any other page may not, and none may unless configured', async () => {
  for (const [gateway, origin] of [
    [open, 'https://evil.example.com'],
    [open, 'null'],
    [closed, page],
  ] as const) {
    const refused = await exchange(gateway.apiOrigin, preflight(origin));
    expect(refused.status).toBe(405);
    expect([...refused.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});
