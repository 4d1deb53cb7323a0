import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openTestProxy, type TestProxy } from '../packages/gateway/src/upstream/contract/proxy-server.ts';
import { configurationText } from './support/gateway.ts';
import { scrapeMetrics } from './support/metrics.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  runHeadgate,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange, RawConnection } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const promptly = { timeout: 5_000, interval: 50 };

const answerBody = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

const frame = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Yes. ' }, finish_reason: null }],
})}\n\n`;

type Mood = 'answers' | 'repeats what it got' | 'says nothing' | 'stops in the middle' | 'never ends';

/** An upstream that keeps the headers it got. */
class Upstream {
  mood: Mood = 'answers';
  readonly heads: IncomingMessage['headers'][] = [];
  origin = '';
  readonly #server = createServer((request, response) => {
    this.heads.push(request.headers);
    request.resume();
    request.once('end', () => this.#answer(request, response));
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    return this;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer({ headers }: IncomingMessage, response: ServerResponse): void {
    const json = { 'content-type': 'application/json' };
    if (this.mood === 'answers') response.writeHead(200, json).end(answerBody);
    else if (this.mood === 'repeats what it got')
      response.writeHead(500, json).end(JSON.stringify({ error: { message: JSON.stringify(headers) } }));
    else if (this.mood !== 'says nothing') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame);
      if (this.mood === 'stops in the middle') return;
      const timer = setInterval(() => response.write(frame), 20);
      response.once('close', () => clearInterval(timer));
    }
  }
}

let opened: AsyncDisposableStack;
let upstream: Upstream;
let proxy: TestProxy;
let configured: ConfiguredDirectory;
let directory = '';
let serving: ServingProcess;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  upstream = opened.adopt(await new Upstream().listen(), (it) => it.close());
  proxy = opened.adopt(await openTestProxy(), (it) => it.close());
  directory = opened.use(temporaryDirectory()).path;
  configured = configureDirectory(directory, { channels: [] });
});
afterEach(() => opened.disposeAsync());

async function serve(members: object, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  const channel = { id: 'one', origin: upstream.origin, models: { m: 'up' } };
  const file = JSON.parse(configurationText({ channels: [channel] })) as { channels: { one: object } };
  configured.write(JSON.stringify({ ...file, channels: { one: { ...file.channels.one, ...members } } }));
  const { options } = configured;
  serving = opened.use(
    await serveHeadgate({ ...options, environment: { ...options.environment, ...environment } }),
  );
}

const messages = [{ role: 'user', content: 'Is it?' }];

function call(changes: object = {}) {
  return exchange(serving.ready.apiOrigin, chatRequest(configured.key, { model: 'm', messages, ...changes }));
}

/** All that operators can see, and all that is kept of it but the secrets' own files. */
async function everythingShown(): Promise<string> {
  const metrics = await scrapeMetrics(serving.ready.consoleOrigin, directory);
  const ran = await Promise.all(
    [
      ['channels', 'list', '--json'],
      ['export'],
      ['doctor'],
      ['ledger', 'export'],
      ['credentials', 'list'],
    ].map((words) => runHeadgate(words, configured.options)),
  );
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !each.name.startsWith('secret-'))
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
  const { stdout, stderr } = serving.process;
  return [metrics, stdout, stderr, ...ran.map((each) => each.stdout + each.stderr), ...files].join('\n');
}

test('calls go through the proxy of their channel with its headers, and no secret of either is seen anywhere', async () => {
  const files = { token: join(directory, 'secret-token'), password: join(directory, 'secret-password') };
  writeFileSync(files.token, 'canary-token-1\n', { mode: 0o600 });
  writeFileSync(files.password, 'canary-password', { mode: 0o600 });
  await serve({
    headers: { 'x-team': 'house', 'x-token': { file: files.token } },
    proxy: { url: proxy.url, user: 'house', password: { file: files.password } },
  });
  expect((await call()).status).toBe(200);
  expect(upstream.heads.at(-1)).toMatchObject({ 'x-team': 'house', 'x-token': 'canary-token-1' });
  const basic = Buffer.from('house:canary-password').toString('base64');
  expect(proxy.requests.map(({ head }) => head)).toEqual([
    expect.stringContaining(`\r\nproxy-authorization: Basic ${basic}\r\n`),
  ]);

  writeFileSync(files.token, 'canary-token-2\n');
  await vi.waitFor(async () => {
    expect((await call()).status).toBe(200);
    expect(upstream.heads.at(-1)).toMatchObject({ 'x-token': 'canary-token-2' });
  }, promptly);

  upstream.mood = 'repeats what it got';
  const failed = await call();
  expect(failed.status).toBeGreaterThanOrEqual(500);
  expect(failed.body.toString()).not.toContain('canary');
  const shown = await everythingShown();
  expect(shown).toContain('x-team');
  expect(shown).not.toContain('canary');
  expect(shown).not.toContain(basic);
});

test('a proxy that wants a password is named to the operator, and not to the caller', async () => {
  const refusing = await openTestProxy((_, client) => {
    client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    return 'handled';
  });
  opened.defer(() => refusing.close());
  await serve({ proxy: refusing.url });
  const { status, body } = await call();
  expect(status).toBeGreaterThanOrEqual(500);
  expect(body.toString()).not.toMatch(/proxy/i);
  const words = `the proxy ${new URL(refusing.url).host} wants another user or password (407)`;
  const tested = await runHeadgate(['channels', 'test', 'one', '--call'], configured.options);
  expect(tested.stdout.replaceAll(/\s+/g, ' ')).toContain(words);
  await vi.waitFor(async () => {
    const { stdout } = await runHeadgate(['ledger', 'export'], configured.options);
    expect(stdout).toContain(words);
  }, promptly);
  expect(upstream.heads).toEqual([]);
});

test('the proxy of the server is for channels that say nothing, and not for those of the own network', async () => {
  const environment = { HEADGATE_UPSTREAM_PROXY: 'environment', HTTPS_PROXY: proxy.url };
  await serve({}, environment);
  expect((await call()).status).toBe(200);
  // The upstream of this test is on this machine, and so allowed to be private.
  expect(proxy.requests).toEqual([]);
  await serving[Symbol.asyncDispose]();
  await serve({ allowPrivate: false, baseUrl: 'https://api.example.com/v1' }, environment);
  expect((await call()).status).toBeGreaterThanOrEqual(500);
  expect(proxy.requests[0]?.authority).toBe('api.example.com:443');
});

test.each([
  ['says nothing', { firstContent: '300ms' }],
  ['stops in the middle', { stall: '300ms' }],
  ['never ends', { total: '500ms' }],
] as const)('an upstream that %s is given up in the time of its channel', async (mood, timeouts) => {
  await serve({ timeouts });
  upstream.mood = mood;
  const started = performance.now();
  const stream = new RawConnection(serving.ready.apiOrigin).send(
    chatRequest(configured.key, { model: 'm', messages, stream: true }),
  );
  const answer = await stream.answer();
  // The server would wait for half a minute, for a minute, and for ten.
  expect(performance.now() - started).toBeLessThan(8_000);
  expect(answer.body.toString()).not.toContain('[DONE]');
});
