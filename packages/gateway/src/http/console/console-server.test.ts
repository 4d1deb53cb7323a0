import { createServer } from 'node:net';
import { fail } from '@headgate/protocols';
import { afterEach, expect, test } from 'vitest';
import { type ConsoleServer, startConsole, type UnreadyReason } from './console-server.ts';

const closed = {
  operatorToken: 'nobody has it',
  routes: { explainRoute: () => fail({ field: '', message: '' }), findEntry: () => Promise.resolve(null) },
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
  const answer = await fetch(`${await start()}/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4');
  expect(await answer.text()).toBe('up 1\n');
});

test.each(['/', '/v1/models', '/metrics/../v1/chat/completions'])(
  '%s is a 404 in JSON, not to be cached',
  async (path) => {
    const answer = await fetch(`${await start()}${path}`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toHaveProperty('error.code', 'not_found');
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
