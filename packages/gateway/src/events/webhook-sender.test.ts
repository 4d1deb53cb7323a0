import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Webhook } from '../catalogue/webhooks.ts';
import type { EventNews } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import type { UpstreamClient } from '../ports/upstream.ts';
import { traceId } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { HttpClient } from '../upstream/client.ts';
import { postMessage } from './post-message.ts';
import { eventMessage, testMessage } from './webhook-message.ts';
import { WebhookSender } from './webhook-sender.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const startMs = 1_763_000_000_000;
const inForce = [{ secret, untilMs: null }];

const news: EventNews = {
  id: traceId(1),
  kind: 'missing-credential',
  severity: 'error',
  subject: 'channel:main',
  fold: 'channel:main',
  foldMs: 3_600_000,
  detail: { channel: 'main', reason: 'the variable X is not set' },
  count: 1,
  firstAtMs: startMs,
  lastAtMs: startMs,
  endedAtMs: null,
  webhooks: ['ops'],
};

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let opened: AsyncDisposableStack;
let received: Received[] = [];
let statusOf: (path: string) => number | null = () => 200;
let origin = '';
let directory = '';
let store: Store;
let nowMs = startMs;
let told: string[] = [];

const clock = { now: () => nowMs, monotonic: () => nowMs };

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  [received, told, nowMs, statusOf] = [[], [], startMs, () => 200];
  const server = opened.adopt(await listening(), (it) => {
    it.closeAllConnections();
    it.close();
  });
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  directory = opened.adopt(mkdtempSync(join(tmpdir(), 'headgate-webhooks-')), (it) =>
    rmSync(it, { recursive: true }),
  );
  store = opened.adopt(await storeIn(directory), (it) => it.close());
});
afterEach(() => opened.disposeAsync());

function storeIn(directory: string): Promise<Store> {
  return openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock,
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
}

async function listening(): Promise<Server> {
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    void text(request).then((body) => {
      const status = statusOf(path);
      received.push({ path, headers, body });
      // A dead receiver takes everything and says nothing.
      if (status !== null)
        response.writeHead(status, { location: `${origin}/elsewhere` }).end('x'.repeat(100_000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function webhookOf(id: string, more: Partial<Webhook> = {}): Webhook {
  const plain = { kinds: null, severity: 'info', allowPrivate: true, proxy: null } as const;
  const own = { description: null, enabled: true, source: 'file', keeps: 'place', secrets: inForce } as const;
  return { id, url: `${origin}/${id}?token=t`, ...plain, ...own, ...more };
}

function senderOf(...webhooks: readonly Webhook[]): WebhookSender {
  const client = opened.adopt(new HttpClient(), (it) => it.close());
  const sender = new WebhookSender({
    ...{ client, clock, uniform: () => 0.5, deployment: () => 'test' },
    events: {
      raise: (kind, { webhook }) => void told.push(`${kind} ${webhook}`),
      over: (kind, { webhook }) => void told.push(`over ${kind} ${webhook}`),
    },
    onAttempt: () => undefined,
  });
  sender.use(webhooks);
  sender.start(store);
  opened.defer(() => sender.stop());
  return sender;
}

const record = (...each: readonly EventNews[]) => store.events.record(each, startMs);
const standing = async (name: string) =>
  (await store.events.standings()).find(({ webhook }) => webhook === name);

type Verify = (headers: IncomingHttpHeaders, body: string, secret: string, nowMs: number) => boolean;

/** The code that docs/operating.md gives to receivers. */
async function verifierOfDocs(): Promise<Verify> {
  const page = readFileSync(new URL('../../../../docs/operating.md', import.meta.url), 'utf8');
  const [, code = ''] = /<!-- webhook-verification -->\n+```js\n(.*?)```/s.exec(page) ?? [];
  const path = join(directory, 'verify.mjs');
  writeFileSync(path, code);
  const { isGenuine } = (await import(pathToFileURL(path).href)) as { readonly isGenuine: Verify };
  return isGenuine;
}

test('an event is posted when it begins and when it ends, signed as the documents say', async () => {
  const sender = senderOf(webhookOf('ops'));
  await record(news);
  await sender.look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ delivered: 1 }));
  await record({ ...news, id: traceId(2), count: 0, lastAtMs: startMs + 5 });
  nowMs += 5;
  await sender.look();
  await vi.waitFor(() => expect(received).toHaveLength(2));
  expect(received.map(({ path, headers }) => [path, headers['webhook-id']])).toEqual([
    ['/ops?token=t', traceId(1)],
    ['/ops?token=t', `${traceId(1)}-ended`],
  ]);
  const { fold: _, foldMs: __, webhooks: ___, ...event } = news;
  const timestamp = new Date(startMs).toISOString();
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    ...{ type: 'missing-credential', phase: 'begun', timestamp, deployment: 'test', data: event },
  });
  expect(JSON.parse(received[1]?.body ?? '')).toMatchObject({
    phase: 'ended',
    data: { endedAtMs: startMs + 5 },
  });
  const verify = await verifierOfDocs();
  for (const { headers, body } of received) {
    expect(verify(headers, body, secret, nowMs)).toBe(true);
    expect(verify(headers, body, 'another secret of them', nowMs)).toBe(false);
    expect(verify(headers, `${body} `, secret, nowMs)).toBe(false);
    expect(verify({ ...headers, 'webhook-id': 'x' }, body, secret, nowMs)).toBe(false);
    expect(verify(headers, body, secret, nowMs + 600_000)).toBe(false);
  }
});

test('a secret of the standard is its bytes, and any other its own text', async () => {
  const verify = await verifierOfDocs();
  const { headers, body } = testMessage('m', 'd', [secret], 1_674_087_231_000);
  expect(headers.at(-1)).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(eventMessage({ ...news }, 'begun', 'd', [secret], 0).headers).toContain('webhook-signature');
  expect(verify(headerMap(headers), Buffer.from(body).toString(), secret, 1_674_087_231_000)).toBe(true);
  const plain = testMessage('m', 'd', ['not in base64 at all!'], 1_674_087_231_000);
  expect(
    verify(
      headerMap(plain.headers),
      Buffer.from(plain.body).toString(),
      'not in base64 at all!',
      1_674_087_231_000,
    ),
  ).toBe(true);
});

function headerMap(list: readonly string[]): IncomingHttpHeaders {
  return Object.fromEntries(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : [])));
}

test('what was not taken is tried again later and later, under the same id, and operators hear of it until it is', async () => {
  statusOf = () => 503;
  const sender = senderOf(webhookOf('ops'));
  await record(news);
  const tries: number[] = [];
  for (; tries.length < 5 && nowMs < startMs + 200_000; nowMs += 1_000) {
    await sender.look();
    await vi.waitFor(async () => expect((await standing('ops'))?.waiting).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (received.length > tries.length) {
      tries.push((nowMs - startMs) / 1000);
      await vi.waitFor(async () => expect((await standing('ops'))?.lastTriedAtMs).toBe(nowMs));
    }
  }
  expect(tries).toEqual([0, 5, 15, 35, 75]);
  expect(told).toEqual(['webhook-failing ops', 'webhook-failing ops', 'webhook-failing ops']);
  expect(await standing('ops')).toMatchObject({ waiting: 1, problem: 'HTTP 503' });
  statusOf = () => 204;
  nowMs += 100_000;
  await sender.look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ delivered: 1, problem: null }));
  expect(told.at(-1)).toBe('over webhook-failing ops');
  expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([traceId(1)]));
});

test('a receiver that is dead holds up no other one', async () => {
  statusOf = (path) => (path.startsWith('/dead') ? null : 200);
  const sender = senderOf(webhookOf('dead'), webhookOf('ops'));
  const each = Array.from({ length: 12 }, (_, n) => ({
    ...news,
    ...{ id: traceId(n + 1), fold: `${n}`, webhooks: ['dead', 'ops'] },
  }));
  await record(...each);
  await vi.waitFor(async () => {
    await sender.look();
    expect(await standing('ops')).toMatchObject({ delivered: 12 });
  });
  expect(await standing('dead')).toMatchObject({ delivered: 0, waiting: 12 });
  expect(received.filter(({ path }) => path.startsWith('/dead'))).toHaveLength(4);
});

test('a restart goes on with what the process before has left', async () => {
  statusOf = () => 500;
  const before = senderOf(webhookOf('ops'));
  await record(news);
  await before.look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ problem: 'HTTP 500' }));
  await before.stop();
  statusOf = () => 200;
  nowMs += 60_000;
  await senderOf(webhookOf('ops')).look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ delivered: 1 }));
});

test('after a day of attempts a message is given up', async () => {
  statusOf = () => 500;
  const sender = senderOf(webhookOf('ops'));
  await record(news);
  for (let n = 0; n < 40 && (await standing('ops'))?.givenUp !== 1; n++) {
    const tried = received.length;
    await sender.look();
    await vi.waitFor(async () => {
      expect(received.length).toBe(tried + 1);
      expect((await standing('ops'))?.lastTriedAtMs).toBe(nowMs);
    });
    nowMs += 5_400_000;
  }
  expect(received).toHaveLength(34);
  expect(await standing('ops')).toMatchObject({ givenUp: 1, waiting: 0 });
});

test('without its secret a webhook is sent nothing, and what it missed waits', async () => {
  const sender = senderOf(webhookOf('ops', { secrets: [] }));
  await record(news);
  await sender.look();
  expect(await standing('ops')).toMatchObject({ waiting: 1, lastTriedAtMs: null });
  sender.use([webhookOf('ops')]);
  await sender.look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ delivered: 1 }));
});

test('while one secret takes the place of another both sign, and then the new one alone', async () => {
  const verify = await verifierOfDocs();
  const older = 'the secret that was before';
  const secrets = [
    { secret, untilMs: null },
    { secret: older, untilMs: startMs + 1_000 },
  ];
  const sender = senderOf(webhookOf('ops', { secrets }));
  for (const [id, signers] of [
    [1, [secret, older]],
    [2, [secret]],
  ] as const) {
    received = [];
    await store.events.record([{ ...news, id: traceId(id), fold: `${id}` }], nowMs);
    await sender.look();
    await vi.waitFor(() => expect(received).toHaveLength(1));
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    expect([secret, older].filter((each) => verify(headers, body, each, nowMs))).toEqual(signers);
    await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ waiting: 0 }));
    nowMs += 2_000;
  }
});

test('one that is turned off hears of nothing, and what waits for it waits', async () => {
  const sender = senderOf(webhookOf('ops', { enabled: false }));
  expect(sender.namesFor('missing-credential')).toEqual([]);
  await record(news);
  sender.sendUnstored([news]);
  await sender.look();
  expect(await standing('ops')).toMatchObject({ waiting: 1, lastTriedAtMs: null });
  sender.use([webhookOf('ops')]);
  await sender.look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ delivered: 1 }));
  expect(received).toHaveLength(1);
});

test('webhooks hear of the kinds and the weight that they name', () => {
  const sender = senderOf(
    webhookOf('all'),
    webhookOf('errors', { severity: 'error' }),
    webhookOf('answers', { kinds: ['odd-answer'] }),
  );
  expect(sender.namesFor('missing-credential')).toEqual(['all', 'errors']);
  expect(sender.namesFor('odd-answer')).toEqual(['all', 'answers']);
  expect(sender.namesFor('budget-threshold')).toEqual(['all']);
});

test('what the store cannot take is sent all the same, once, and again when the store has it, under the same id', async () => {
  const sender = senderOf(webhookOf('ops'));
  sender.sendUnstored([news]);
  await vi.waitFor(() => expect(received).toHaveLength(1));
  sender.sendUnstored([news, { ...news, id: traceId(7), count: 0 }]);
  await record(news);
  await sender.look();
  await vi.waitFor(async () => expect(await standing('ops')).toMatchObject({ delivered: 1 }));
  expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([traceId(1), traceId(1)]);
});

test.each([
  ['a redirect is not followed', 302, {}, 'HTTP 302: redirects are not followed'],
  ['a private address is refused', 200, { allowPrivate: false }, /^forbidden-address: /],
])('%s', async (_, status, more, problem) => {
  statusOf = () => status;
  const client = opened.adopt(new HttpClient(), (it) => it.close());
  const webhook = webhookOf('ops', more);
  const found = await postMessage(client, webhook, testMessage('m', 'd', [secret], 0));
  expect(found).toEqual(typeof problem === 'string' ? problem : (expect.stringMatching(problem) as string));
  expect(found).not.toContain('token');
  expect(received.filter(({ path }) => path === '/elsewhere')).toEqual([]);
  expect(received).toHaveLength(status === 302 ? 1 : 0);
});

test('a name that leads to a private address is refused at the socket, whatever it led to before', async () => {
  const resolve: NonNullable<ConstructorParameters<typeof HttpClient>[0]>['resolve'] = (_, done) =>
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  const client = opened.adopt(new HttpClient({ resolve }), (it) => it.close());
  const url = `http://hooks.example.com:${new URL(origin).port}/x`;
  const webhook = webhookOf('ops', { url, allowPrivate: false });
  expect(await postMessage(client, webhook, testMessage('m', 'd', [secret], 0))).toMatch(
    /^forbidden-address: /,
  );
  expect(received).toEqual([]);
});

test('a receiver has ten seconds', async () => {
  vi.useFakeTimers();
  try {
    let aborted = 0;
    const silent: UpstreamClient = {
      send: () => ({ isSent: true, pause() {}, resume() {}, gather() {}, abort: () => void aborted++ }),
      close: () => Promise.resolve(),
    };
    const posted = postMessage(silent, webhookOf('ops'), testMessage('m', 'd', [secret], 0));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await posted).toBe('no answer within 10 s');
    expect(aborted).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
