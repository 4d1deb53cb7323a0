import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { defaultDialect } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Channel } from '../../catalogue/catalogue.ts';
import { openUpstream } from '../../upstream/channels.ts';
import { HttpClient } from '../../upstream/client.ts';
import { openCatalogueFiles } from '../catalogue-files.ts';
import { type ConnectionCause, connectionCauses } from '../connection-causes.ts';
import { listedNames } from './discovered-models.ts';
import { tryChannel } from './try-channel.ts';

const catalogue = openCatalogueFiles();
const client = new HttpClient({ connectTimeoutMs: 300 });
const closing: (() => void)[] = [];
let origin = '';
let answer: RequestListener = (_, response) => response.end();
let seen: string[] = [];

beforeAll(async () => {
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
});
afterAll(async () => {
  await client.close();
  for (const close of closing) close();
});

function channelAt(changes: Partial<Channel> = {}, provider: Partial<Channel['provider']> = {}): Channel {
  return {
    id: 'tried',
    source: 'console',
    alias: 'Tried',
    provider: {
      ...{ id: 'openai', name: 'P', baseUrl: origin, protocols: { 'chat-completions': '/chat/completions' } },
      ...{
        credential: { scheme: 'bearer' },
        dialect: defaultDialect,
        modelsPath: '/models',
        environment: [],
      },
      ...{ documentation: null, simulated: false },
      ...provider,
    },
    baseUrl: `${origin}/v1`,
    credentials: [{ id: 'secret', secret: 'sk-canary-secret' }],
    ...{ priority: 0, enabled: true, drain: false, maxConcurrency: null, hangUp: null, listed: null },
    ...{ headers: [], proxy: null, secrets: [], simulated: false, allowPrivate: true },
    timeouts: { connectMs: null, firstContentMs: null, stallMs: null, totalMs: null },
    ...changes,
  };
}

function trial(changes: Partial<Channel> = {}, model: string | null = null, timeoutMs = 2_000) {
  seen = [];
  const tools = {
    ...{ upstream: openUpstream(client), catalogue, models: new Map(), nowMs: Date.UTC(2026, 10, 23) },
    ...{ timeoutMs, sketch: () => Promise.reject(new Error('not asked for')) },
  };
  return tryChannel(channelAt(changes), { model }, tools);
}

/** Answers every request with a status and a body. */
function says(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RequestListener {
  return (_, response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

const error = (message: string, type = 'error', code: string | null = null) => ({
  error: { message, type, code },
});

/** A socket on which nobody speaks HTTP. */
async function rawServer(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Fault {
  readonly answers?: RequestListener;
  readonly changes?: () => Partial<Channel> | Promise<Partial<Channel>>;
  readonly model?: string;
  readonly timeoutMs?: number;
}

const silent: RequestListener = () => undefined;

/** Found before anything is asked. */
type FoundBefore = 'address-incomplete' | 'credential-missing';

/** Every cause but one that depends on the routes of the machine, and something that brings it about. */
const faults = {
  dns: { changes: () => ({ baseUrl: 'http://no-such-host.invalid/v1' }) },
  refused: { changes: () => ({ baseUrl: 'http://127.0.0.1:1/v1' }) },
  tls: { changes: () => ({ baseUrl: `${origin.replace('http:', 'https:')}/v1` }) },
  proxy: {
    answers: says(407, ''),
    changes: () => ({ baseUrl: 'https://upstream.invalid/v1', proxy: { url: origin, authorization: null } }),
  },
  'private-address': { changes: () => ({ allowPrivate: false }) },
  'connect-timeout': {
    // A TLS handshake that is never answered.
    changes: async () => ({ baseUrl: `https://${await rawServer(() => undefined)}/v1` }),
  },
  timeout: { answers: silent, timeoutMs: 100 },
  reset: {
    changes: async () => ({
      baseUrl: `http://${await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()))}/v1`,
    }),
  },
  redirect: { answers: says(302, '', { location: 'https://elsewhere.example/' }) },
  protocol: { answers: says(200, { hello: 'world' }) },
  'web-page': { answers: says(200, '<html>hello</html>', { 'content-type': 'text/html' }) },
  unauthorized: {
    answers: says(401, error('Incorrect API key provided', 'invalid_request_error', 'invalid_api_key')),
  },
  forbidden: { answers: says(403, error('Your key may not read this project', 'permission_error')) },
  payment: { answers: says(402, error('Payment required')) },
  quota: {
    answers: says(429, error('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota')),
  },
  'rate-limited': { answers: says(429, error('Too many requests', 'requests', 'rate_limit_exceeded')) },
  'model-not-found': {
    answers: says(404, error('The model `m` does not exist', 'invalid_request_error', 'model_not_found')),
    model: 'm',
  },
  'not-found': { answers: says(404, '<html>nothing here</html>') },
  rejected: { answers: says(400, error('max_tokens is too small', 'invalid_request_error')), model: 'm' },
  'upstream-error': { answers: says(500, error('boom')) },
} as const satisfies Record<Exclude<ConnectionCause, FoundBefore | 'network'>, Fault>;

describe('what fails, by cause', () => {
  test.each(Object.entries<Fault>(faults))('%s', async (cause, { answers, changes, model, timeoutMs }) => {
    answer = answers ?? silent;
    const { works, steps } = await trial(await changes?.(), model ?? null, timeoutMs);
    expect(works).toBe(false);
    const last = steps.at(-1);
    expect(last).toMatchObject({ works: false, cause, ...connectionCauses[cause as ConnectionCause] });
    expect(JSON.stringify(steps)).not.toContain('canary');
  });

  test('an address that names models and is not there is no model that is missing', async () => {
    answer = says(404, error('Invalid URL (GET /v1/v1/models)', 'invalid_request_error'));
    const { steps } = await trial();
    expect(steps).toMatchObject([{ asked: 'models', works: false, cause: 'not-found' }]);
  });

  test('what lacks a credential or a part of its address is not asked', async () => {
    const none = await trial({ credentials: [] });
    expect(none).toMatchObject({ works: false, steps: [{ cause: 'credential-missing' }] });
    const gap = await trial({ baseUrl: 'https://{region}.example.invalid' });
    expect(gap).toMatchObject({ works: false, steps: [{ cause: 'address-incomplete' }] });
    expect(seen).toEqual([]);
  });

  test('the words that the system has for a network without a way', async () => {
    const { causeOfFailure } = await import('../connection-causes.ts');
    for (const code of ['ENETUNREACH', 'EHOSTUNREACH'])
      expect(causeOfFailure({ kind: 'unreachable', detail: `connect ${code} 100::1:81` })).toBe('network');
  });
});

describe('a channel that works', () => {
  const list = {
    data: [{ id: 'gpt-5-mini' }, { id: 'openai/gpt-5' }, { id: 'house-model' }, { id: 'odd name' }],
  };

  test('tells its models, with what the catalogue knows of them', async () => {
    answer = says(200, list);
    const { works, steps, models } = await trial();
    expect(steps).toMatchObject([
      { asked: 'models', works: true, status: 200, cause: null, credential: 'secret' },
    ]);
    expect(works).toBe(true);
    expect(seen).toEqual(['GET /v1/models']);
    expect(models).toMatchObject([
      { upstream: 'gpt-5-mini', id: 'gpt-5-mini', isKnown: true, isServed: false },
      { upstream: 'openai/gpt-5', id: 'gpt-5', isKnown: true },
      { upstream: 'house-model', id: 'house-model', isKnown: false, price: null, cost: null },
    ]);
    expect(models[0]?.price).toMatchObject({ input: '0.25', output: '2.00' });
    expect(models[0]?.contextWindow).toBe(400_000);
  });

  test('is asked for one token of a model that is named, also where its list is closed', async () => {
    answer = (request, response) =>
      request.method === 'GET'
        ? says(404, 'no list')(request, response)
        : says(200, { choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] })(request, response);
    const { works, steps } = await trial({}, 'gpt-5-mini');
    expect(seen).toEqual(['GET /v1/models', 'POST /v1/chat/completions']);
    expect(steps.map(({ asked, works: each }) => [asked, each])).toEqual([
      ['models', false],
      ['call', true],
    ]);
    // The list is a help, and the call is what counts.
    expect(works).toBe(true);
  });

  test('asks with each credential, and says which one fails', async () => {
    answer = (request, response) =>
      says(
        request.headers.authorization === 'Bearer good' ? 200 : 401,
        request.headers.authorization === 'Bearer good' ? list : error('no', 'x', 'invalid_api_key'),
      )(request, response);
    const credentials = [
      { id: 'FIRST', secret: 'good' },
      { id: 'cred-2', secret: 'bad' },
    ];
    const { works, steps, models } = await trial({ credentials });
    expect(works).toBe(false);
    expect(steps).toMatchObject([
      { credential: 'FIRST', works: true },
      { credential: 'cred-2', works: false, cause: 'unauthorized' },
    ]);
    expect(models).toHaveLength(3);
  });
});

test.each([
  [{ data: [{ id: 'a' }, { id: 'a' }] }, ['a']],
  [{ models: [{ name: 'models/gemini-3' }, { model: 'x' }] }, ['gemini-3']],
  [
    [{ id: 'together' }, 'plain'],
    ['together', 'plain'],
  ],
  [{ ok: true }, null],
  ['no list', null],
])('a list of models is read in the shape of %j', (body, names) => {
  expect(listedNames(JSON.stringify(body))).toEqual(names);
});
