import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fail } from '@headgate/protocols';
import { afterEach, expect, test } from 'vitest';
import { noCalls } from './calls-api.fixture.ts';
import { noChannels } from './channels-api.fixture.ts';
import { type ConsoleServer, startConsole, type UnreadyReason } from './console-server.ts';
import { noStatusPage, testSources } from './sources.fixture.ts';

const nobody = {
  creates: { claim: () => Promise.resolve({ kind: 'new' } as const), conclude: () => Promise.resolve() },
  now: () => 0,
};

const closed = {
  headersMs: 300,
  bodyMs: 300,
  consoleOrigin: 'https://console.example.com',
  apiOrigin: () => 'https://api.example.com',
  tokens: { operator: 'operator', scrape: 'scrape' },
  routes: testSources({
    explainRoute: () => fail({ field: '', message: '' }),
    findEntry: () => Promise.resolve(null),
    ...noCalls,
    ...noChannels,
    events: { list: () => Promise.resolve([]), follow: () => Promise.resolve({ events: [], mark: 0 }) },
    nextNews: () => Promise.resolve(),
    webhooks: () => Promise.resolve([]),
    statusTools: () => {
      throw new Error('not here');
    },
    restart: () => Promise.resolve(fail('not here')),
  }),
  ...nobody,
  status: noStatusPage,
  onBug: () => {},
};

const started: ConsoleServer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()));
});

async function start(reasons: readonly UnreadyReason[] = []): Promise<string> {
  const server = await startConsole({
    host: '127.0.0.1',
    port: 0,
    unreadyReasons: () => reasons,
    exposeMetrics: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
    ...closed,
  });
  started.push(server);
  return server.origin;
}

test('is healthy while it answers, ready or not', async () => {
  const answer = await fetch(`${await start(['draining'])}/healthz`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ status: 'ok' });
});

test('is ready when nothing speaks against it', async () => {
  const answer = await fetch(`${await start()}/readyz`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ status: 'ready' });
});

test('is not ready, and says why', async () => {
  const answer = await fetch(`${await start(['draining', 'store-not-writable'])}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ status: 'not-ready', reasons: ['draining', 'store-not-writable'] });
});

test('serves metrics in their own content type', async () => {
  const answer = await fetch(`${await start()}/metrics`, { headers: { authorization: 'Bearer scrape' } });
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4');
  expect(await answer.text()).toBe('up 1\n');
});

test.each(['/', '/v1/models', '/metrics/../v1/chat/completions'])(
  '%s is a 404 in JSON, not to be cached',
  async (path) => {
    const answer = await fetch(`${await start()}${path}`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toHaveProperty('code', 'not_found');
  },
);

test('a port that is taken is an error at start', async () => {
  const occupant = createServer();
  await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve));
  const address = occupant.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const options = {
    host: '127.0.0.1',
    port,
    unreadyReasons: () => [],
    exposeMetrics: () => Promise.reject(new Error()),
    ...closed,
  };
  await expect(startConsole(options)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await new Promise((resolve) => occupant.close(resolve));
});

test.each([
  ['Bearer operator', 200],
  ['Bearer scrape', 200],
  ['Bearer other', 401],
  ['', 401],
])('metrics tell what is spent: with %j they answer %i', async (authorization, status) => {
  const answer = await fetch(`${await start()}/metrics`, { headers: { authorization } });
  expect(answer.status).toBe(status);
  expect((await answer.text()).includes('up 1')).toBe(status === 200);
});

test('the token of the metrics opens nothing else', async () => {
  const answer = await fetch(`${await start()}/api/v1/route/explain`, {
    headers: { authorization: 'Bearer scrape' },
  });
  expect(answer.status).toBe(401);
});

test('nothing is told without a token but whether the process is well', async () => {
  const origin = await start();
  for (const path of [
    '/metrics',
    '/api',
    '/api/v1/channels',
    '/api/v1/calls/x/route',
    '/api/v1/spend',
    '/metrics/',
  ]) {
    const answer = await fetch(`${origin}${path}`);
    expect(answer.status, path).toBe(path === '/metrics/' ? 404 : 401);
    expect(await answer.text()).not.toMatch(/up 1/);
  }
  expect(await (await fetch(`${origin}/healthz`)).json()).toEqual({ status: 'ok' });
});

/** The status of an answer to a request with this host, which fetch would not send. */
async function statusFor(host: string, path: string): Promise<number> {
  const { hostname, port } = new URL(await start());
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: 'Bearer operator' };
    get({ hostname, port, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    }).on('error', reject);
  });
}

test.each([
  'console.example.com',
  'CONSOLE.example.com:443',
  '127.0.0.1:8081',
  '[::1]:8081',
  'localhost:8081',
  'headgate:8081',
  'headgate.gateways.svc:8081',
  'headgate.gateways.svc.cluster.local',
])('answers for the host %s', async (host) => {
  expect(await statusFor(host, '/metrics')).toBe(200);
});

test.each([
  'evil.example.com',
  'console.example.com.evil.com',
  '127.0.0.1.evil.com:8081',
  'localhost.evil.com',
])('a page that leads %s here reads nothing but whether the process is well', async (host) => {
  expect(await statusFor(host, '/metrics')).toBe(421);
  expect(await statusFor(host, '/api/v1/route/explain')).toBe(421);
  expect(await statusFor(host, '/')).toBe(421);
  expect(await statusFor(host, '/healthz')).toBe(200);
  expect(await statusFor(host, '/readyz')).toBe(200);
});

test('a load balancer asks for its health in HTTP/1.0, without a host', async () => {
  const { port } = new URL(await start());
  const statuses = ['/healthz', '/readyz', '/api/v1/channels'].map(async (path) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.0\r\n\r\n`));
    return (await text(socket)).slice(9, 12);
  });
  expect(await Promise.all(statuses)).toEqual(['200', '200', '401']);
});

const question =
  'POST /api/v1/route/explain HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer operator\r\ncontent-type: application/json\r\n';

test('a caller who leaves in the middle of its body is no bug', async () => {
  const bugs: unknown[] = [];
  const server = await startConsole({
    host: '127.0.0.1',
    port: 0,
    unreadyReasons: () => [],
    exposeMetrics: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
    ...closed,
    status: noStatusPage,
    onBug: (error) => bugs.push(error),
  });
  started.push(server);
  const socket = connect(Number(new URL(server.origin).port), '127.0.0.1');
  socket.write(`${question}content-length: 100\r\n\r\n{"key":`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
  // What is asked behind it is answered after it has gone.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
  expect(bugs).toEqual([]);
});

test.each([
  ['head', 'GET /healthz HTTP/1.1\r\nhost: 127'],
  ['body', `${question}content-length: 10\r\n\r\n{`],
])('a %s that never comes whole holds its connection for no longer than it may take', async (_, bytes) => {
  const socket = connect(Number(new URL(await start()).port), '127.0.0.1');
  const isClosed = new Promise((resolve) => socket.on('close', resolve).resume());
  socket.write(bytes);
  await isClosed;
});
