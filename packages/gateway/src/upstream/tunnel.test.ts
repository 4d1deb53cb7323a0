import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { proxyServer } from '../catalogue/build-way.ts';
import type { UpstreamRequest } from '../ports/upstream.ts';
import { HttpClient, type UpstreamClientOptions } from './client.ts';
import { describeAnswers } from './contract/describe-answers.ts';
import { describeConnections } from './contract/describe-connections.ts';
import { describeFailures } from './contract/describe-failures.ts';
import { describeFlow } from './contract/describe-flow.ts';
import { describeTls } from './contract/describe-tls.ts';
import { type OnConnect, openTestProxy, type TestProxy } from './contract/proxy-server.ts';
import { outcomeOf, requestTo } from './contract/recorded-answer.ts';
import { answerAlways, okAnswer } from './contract/scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './contract/workbench.ts';

const certificate = readFileSync(new URL('./fixtures/localhost-certificate.pem', import.meta.url), 'utf8');
const key = readFileSync(new URL('./fixtures/localhost-key.pem', import.meta.url), 'utf8');

describe.each(['http', 'https'] as const)('our own client, through a proxy behind %s', (scheme) => {
  let proxy: TestProxy;
  beforeAll(async () => {
    proxy = await openTestProxy(undefined, scheme);
  });
  afterAll(() => proxy.close());

  /** All that the client does goes through the proxy, which it trusts. */
  const open: OpenClient = (options = {}) => {
    const trusted = scheme === 'https' ? { certificateAuthorities: [certificate] } : {};
    const client = new HttpClient({ ...trusted, ...options });
    return {
      send: (request, handler) =>
        client.send({ ...request, proxy: proxyServer(proxy.url, null, null) }, handler),
      close: () => client.close(),
    };
  };
  describe('answers', () => describeAnswers(open));
  describe('flow', () => describeFlow(open));
  // A proxy behind TLS cannot hand on a reset, and is itself trusted by the authority of the test's upstreams.
  if (scheme === 'http') {
    describe('TLS', () => describeTls(open));
    describe('connections', () => describeConnections(open));
    describe('failures', () => describeFailures(open));
  }

  test('it went through the proxy', () => {
    expect(proxy.requests.length).toBeGreaterThan(20);
  });
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

async function proxyWith(onConnect?: OnConnect): Promise<TestProxy> {
  const proxy = await openTestProxy(onConnect);
  opened.push(proxy);
  return proxy;
}

const workbench = setUpWorkbench((options) => new HttpClient(options));

function through({ url }: TestProxy, user: string | null = null, password: string | null = null) {
  return { proxy: proxyServer(url, user, password) };
}

async function failureOf(
  changes: Partial<UpstreamRequest>,
  options: UpstreamClientOptions = {},
  origin = 'http://127.0.0.1:9',
) {
  const { failure } = await outcomeOf(workbench.client(options), requestTo(origin, changes));
  return failure;
}

test('TLS is spoken with the upstream inside the tunnel, which asks for it by name and tells it nothing', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer), { cert: certificate, key });
  const proxy = await proxyWith();
  const client = workbench.client({ certificateAuthorities: [certificate] });
  const request = requestTo(upstream.origin, through(proxy, 'house', 'sécret:x'));
  for (let round = 0; round < 3; round++) {
    expect(await outcomeOf(client, request)).toMatchObject({ body: 'ok', failure: null });
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }
  const socket = upstream.connections[0]?.socket;
  expect(socket instanceof TLSSocket && socket.servername).toBe('localhost');
  // One connection for three requests, and one tunnel.
  expect([proxy.requests.length, proxy.open]).toEqual([1, 1]);
  const { head, authority } = proxy.requests[0] ?? { head: '', authority: '' };
  expect(authority).toBe(`localhost:${upstream.port}`);
  const credential = Buffer.from('house:sécret:x').toString('base64');
  expect(head).toBe(
    `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nproxy-authorization: Basic ${credential}\r\n\r\n`,
  );
});

test('TLS within the TLS of a proxy', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer), { cert: certificate, key });
  const proxy = await openTestProxy(undefined, 'https');
  opened.push(proxy);
  const request = requestTo(upstream.origin, through(proxy));
  const trusting = { certificateAuthorities: [certificate] };
  expect((await outcomeOf(workbench.client(trusting), request)).body).toBe('ok');
  expect(proxy.requests[0]?.authority).toBe(`localhost:${upstream.port}`);
  expect(await failureOf(through(proxy), {}, upstream.origin)).toMatchObject({ kind: 'unreachable' });
});

test('the credential of the proxy goes to the proxy alone', async () => {
  const heads: string[] = [];
  const upstream = await workbench.upstream(async (connection) => {
    heads.push((await connection.request())?.head ?? '');
    connection.write(okAnswer);
  });
  const proxy = await proxyWith();
  await outcomeOf(workbench.client(), requestTo(upstream.origin, through(proxy, 'house', 'secret')));
  expect(heads.join()).toContain('POST /v1/answers');
  expect(heads.join()).not.toMatch(/proxy|Basic/i);
});

const says =
  (bytes: string): OnConnect =>
  (_, client) => {
    client.write(bytes, 'latin1');
    return 'handled';
  };

test.each([
  ['wants a password', says('HTTP/1.1 407 Authentication\r\n\r\n'), 'wants another user or password (407)'],
  ['forbids', says('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno'), 'answers CONNECT with 403'],
  ['cannot reach it', says('HTTP/1.0 502\r\n\r\n'), 'answers CONNECT with 502'],
  [
    'leads elsewhere',
    says('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n'),
    'answers CONNECT with 302',
  ],
  ['speaks something else', says('SSH-2.0-OpenSSH_9.9\r\n'), 'does not answer CONNECT in HTTP'],
  ['speaks of a status that is none', says('HTTP/1.1 2xx\r\n\r\n'), 'does not answer CONNECT in HTTP'],
  [
    'never comes to an end',
    says(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}`),
    'answers CONNECT without an end',
  ],
  ['answers in the place of the upstream', says(`HTTP/1.1 200 OK\r\n\r\n${okAnswer}`), 'goes on speaking'],
  [
    'hangs up',
    (_: unknown, client: Socket) => {
      client.end();
      return 'handled' as const;
    },
    'closed the connection',
  ],
  [
    'resets',
    (_: unknown, client: Socket) => {
      client.resetAndDestroy();
      return 'handled' as const;
    },
    'the connection',
  ],
])('a proxy that %s is a failure of the channel, in words', async (_, onConnect, words) => {
  for (const origin of ['http://127.0.0.1:9', 'https://127.0.0.1:9']) {
    const proxy = await proxyWith(onConnect);
    const failure = await failureOf(through(proxy, 'house', 'secret-1'), {}, origin);
    expect(failure?.kind).toBe('unreachable');
    expect(failure?.detail).toContain(`the proxy ${new URL(proxy.url).host} `);
    expect(failure?.detail).toContain(words);
    expect(failure?.detail).not.toContain('secret-1');
    expect(proxy.requests).toHaveLength(1);
  }
});

test('an answer that comes byte by byte is read all the same', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer));
  const proxy = await proxyWith((_, client) => {
    void (async () => {
      for (const byte of 'HTTP/1.1 503 Busy\r\n\r\n') {
        client.write(byte);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    return 'handled';
  });
  expect((await failureOf(through(proxy), {}, upstream.origin))?.detail).toContain(
    'answers CONNECT with 503',
  );
});

test('a proxy that says nothing, and one that is not there', async () => {
  const silent = await proxyWith(() => 'handled');
  const late = await failureOf({ ...through(silent), connectTimeoutMs: 50 });
  expect(late).toEqual({
    kind: 'connect-timeout',
    detail: `no connection within 50 ms, through the proxy ${new URL(silent.url).host}`,
  });
  await silent.close();
  opened.length = 0;
  const gone = await failureOf(through(silent));
  expect(gone).toMatchObject({
    kind: 'unreachable',
    detail: expect.stringContaining('cannot be reached') as string,
  });
});

test.each(['http', 'https'] as const)(
  'a tunnel behind %s in which nobody speaks TLS is closed in time',
  async (scheme) => {
    const closed = Promise.withResolvers<string>();
    const proxy = await openTestProxy((_, client) => {
      client.once('close', () => closed.resolve('closed'));
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.resume();
      return 'handled';
    }, scheme);
    opened.push(proxy);
    const trusting = { certificateAuthorities: [certificate] };
    const changes = { ...through(proxy), connectTimeoutMs: 200 };
    expect(await failureOf(changes, trusting, 'https://127.0.0.1:9')).toMatchObject({
      kind: 'connect-timeout',
    });
    const late = new Promise((resolve) => setTimeout(resolve, 3000, 'still open').unref());
    expect(await Promise.race([closed.promise, late])).toBe('closed');
  },
);

test('a certificate for another name is refused inside the tunnel', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer), { cert: certificate, key });
  const proxy = await proxyWith();
  const options = { certificateAuthorities: [certificate] };
  const failure = await failureOf(through(proxy), options, `https://127.0.0.1:${upstream.port}`);
  expect(failure?.kind).toBe('unreachable');
  expect(upstream.connections.every(({ socket }) => socket.bytesRead === 0)).toBe(true);
});

test.each([
  'https://127.0.0.1',
  'https://10.0.0.7:8443',
  'https://[::1]',
  'https://[64:ff9b::7f00:1]',
  'https://2130706433',
  'https://localhost',
  'https://api.localhost.',
  'http://api.example.com',
  'http://169.254.169.254',
])('%s is not asked for through a proxy unless private addresses are allowed', async (origin) => {
  const proxy = await proxyWith();
  const failure = await failureOf({ ...through(proxy), allowPrivate: false }, {}, origin);
  expect(failure?.kind).toBe('forbidden-address');
  expect(proxy.requests).toHaveLength(0);
});

test('a name that leads to this machine proves nothing there: no byte of a request is sent', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer), { cert: certificate, key });
  const heads: string[] = [];
  // The proxy resolves the name as an attacker likes.
  const proxy = await proxyWith((request, client) => {
    heads.push(request.head);
    const { port } = upstream;
    void import('node:net').then(({ connect }) => {
      const server = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        client.pipe(server).pipe(client);
      });
      server.on('error', () => {});
    });
    return 'handled';
  });
  const options = { certificateAuthorities: [certificate] };
  const failure = await failureOf(
    { ...through(proxy), allowPrivate: false },
    options,
    'https://api.example.com',
  );
  expect(failure?.kind).toBe('unreachable');
  expect(heads[0]).toContain('CONNECT api.example.com:443 ');
  expect(upstream.connections.every(({ socket }) => socket.bytesRead === 0)).toBe(true);
});

test('channels with different proxies share no connection', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer));
  const [one, other] = [await proxyWith(), await proxyWith()];
  const client = workbench.client();
  for (const way of [through(one), through(other), through(one, 'u', 'p'), {}])
    expect((await outcomeOf(client, requestTo(upstream.origin, way))).body).toBe('ok');
  expect(upstream.connections).toHaveLength(4);
  expect([one.requests.length, other.requests.length]).toEqual([2, 1]);
});
