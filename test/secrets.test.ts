import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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
import { chatRequest, exchange } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Changes take effect within a second, on a machine that does not run other tests beside. */
const promptly = { timeout: 5_000, interval: 50 };

const answerBody = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

/** An upstream that knows its customers' keys, and says the key that it refuses, as some do. */
class Upstream {
  readonly accepted = new Set<string>();
  readonly asked: string[] = [];
  origin = '';
  readonly #server = createServer((request, response) => this.#answer(request, response));

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

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
    this.asked.push(key);
    request.resume();
    const isKnown = this.accepted.has(key);
    const body = isKnown ? answerBody : JSON.stringify({ error: { message: `Incorrect API key: ${key}` } });
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(body);
  }
}

let opened: AsyncDisposableStack;
let upstream: Upstream;
let configured: ConfiguredDirectory;
let directory = '';
let serving: ServingProcess;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  upstream = opened.adopt(await new Upstream().listen(), (it) => it.close());
  directory = opened.use(temporaryDirectory()).path;
  configured = configureDirectory(directory, { channels: [] });
});
afterEach(() => opened.disposeAsync());

/** The configuration of one channel, whose credential is as given. */
function fileWith(members: object): string {
  const channel = { id: 'one', origin: upstream.origin, models: { m: 'up' }, credential: 'x' };
  const file = JSON.parse(configurationText({ channels: [channel] })) as {
    channels: { one: Record<string, unknown> };
  };
  const { credential: _, ...plain } = file.channels.one;
  return JSON.stringify({ ...file, channels: { one: { ...plain, ...members } } });
}

async function serve(members: object, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  configured.write(fileWith(members));
  const { options } = configured;
  serving = opened.use(
    await serveHeadgate({ ...options, environment: { ...options.environment, ...environment } }),
  );
}

async function statusOfCall(): Promise<number> {
  const request = chatRequest(configured.key, {
    model: 'm',
    messages: [{ role: 'user', content: 'Is it?' }],
  });
  const { status, body } = await exchange(serving.ready.apiOrigin, request);
  expect(body.toString()).not.toContain('sk-');
  return status;
}

/** Log lines go out in batches. */
async function said(text: string): Promise<void> {
  await vi.waitFor(() => expect(serving.process.stderr).toContain(text), promptly);
}

function metrics(): Promise<string> {
  return scrapeMetrics(serving.ready.consoleOrigin, directory);
}

/** Nothing that the process printed, and nothing it keeps, has a secret in it. */
function expectNoSecret(...kept: readonly string[]): void {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !join(each.parentPath, each.name).includes('mount'))
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
  for (const text of [serving.process.stdout, serving.process.stderr, ...files, ...kept])
    expect(text).not.toMatch(/sk-up/);
}

/** Puts the secret where a mount of containers has it: a link to a link to a directory, which is exchanged whole. */
function mount(version: string, secret: string): string {
  const root = join(directory, 'mount');
  mkdirSync(join(root, `..${version}`), { recursive: true });
  writeFileSync(join(root, `..${version}`, 'key'), `${secret}\n`, { mode: 0o400 });
  symlinkSync(`..${version}`, join(root, '..data_tmp'));
  renameSync(join(root, '..data_tmp'), join(root, '..data'));
  const path = join(root, 'key');
  if (!readdirSync(root).includes('key')) symlinkSync(join('..data', 'key'), path);
  return path;
}

test('a mounted secret is exchanged under load without a failed call, and the old one is used no more', async () => {
  upstream.accepted.add('sk-up-one');
  await serve({ credential: { file: mount('1', 'sk-up-one') } });
  const statuses: number[] = [];
  let isOver = false;
  const callers = Array.from({ length: 8 }, async () => {
    while (!isOver) statuses.push(await statusOfCall());
  });
  for (const [version, secret] of [
    ['2', 'sk-up-two'],
    ['3', 'sk-up-three'],
  ] as const) {
    // Both are good for a while, as vendors have it.
    upstream.accepted.add(secret);
    mount(version, secret);
    await vi.waitFor(() => expect(upstream.asked.at(-1)).toBe(secret), promptly);
    for (const known of [...upstream.accepted]) if (known !== secret) upstream.accepted.delete(known);
  }
  isOver = true;
  await Promise.all(callers);
  expect(statuses.length).toBeGreaterThan(20);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expectNoSecret(await metrics());
});

test('a variable that is missing keeps its channel off and not the gateway; a file in its place turns it on', async () => {
  upstream.accepted.add('sk-up-late');
  await serve({ credential: { environment: 'NOT_THERE' } });
  expect(await statusOfCall()).toBe(503);
  const lacking = await metrics();
  expect(lacking).toContain('headgate_credentials_missing{channel="one"} 1');
  expect(lacking).toContain('headgate_alerts_total{kind="missing-credential"} 1');
  await said('one: the variable NOT_THERE is not set');
  const path = join(directory, 'mount-late');
  configured.write(fileWith({ credential: { file: path } }));
  await said(`the file ${path} is not there`);
  writeFileSync(path, 'sk-up-late', { mode: 0o600 });
  await vi.waitFor(async () => expect(await statusOfCall()).toBe(200), promptly);
  expect(await metrics()).not.toContain('headgate_credentials_missing{');
});

test('a command is run again when its secret is refused, and the new secret is not blamed for the old one', async () => {
  upstream.accepted.add('sk-up-old');
  const path = join(directory, 'mount-vault');
  writeFileSync(path, 'sk-up-old');
  const script =
    'console.error("sk-" + "up-noise"); process.stdout.write(require("fs").readFileSync(process.argv[1]))';
  await serve({ credential: { command: [process.execPath, '-e', script, path] } });
  expect(await statusOfCall()).toBe(200);
  // So long ago that it may be run again.
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  writeFileSync(path, 'sk-up-new');
  upstream.accepted.clear();
  upstream.accepted.add('sk-up-new');
  expect(await statusOfCall()).toBeGreaterThanOrEqual(500);
  await vi.waitFor(async () => expect(await statusOfCall()).toBe(200), promptly);
  expect(upstream.asked.filter((key) => key === 'sk-up-old')).toHaveLength(2);
  expectNoSecret(await metrics());
});

test('a secret in the store is added, exchanged and taken away while the gateway runs, and survives a restart', async () => {
  await serve({});
  expect(await statusOfCall()).toBe(503);
  for (const key of ['sk-up-one', 'sk-up-two']) upstream.accepted.add(key);
  const withInput = (words: readonly string[], input: string) =>
    runHeadgate(words, { ...configured.options, input });
  const added = await withInput(['credentials', 'add', 'one', '--json'], 'sk-up-one\n');
  expect(added).toMatchObject({ code: 0, stderr: '' });
  const { id } = JSON.parse(added.stdout) as { readonly id: string };
  await vi.waitFor(async () => expect(await statusOfCall()).toBe(200), promptly);
  // What is refused is blocked for a minute; what takes its place is not.
  upstream.accepted.delete('sk-up-one');
  expect(await statusOfCall()).toBeGreaterThanOrEqual(500);
  expect(await withInput(['credentials', 'rotate', id], 'sk-up-two')).toMatchObject({ code: 0, stderr: '' });
  await vi.waitFor(async () => expect(await statusOfCall()).toBe(200), promptly);

  await serving[Symbol.asyncDispose]();
  await serve({});
  expect(await statusOfCall()).toBe(200);
  const shown = await Promise.all(
    [
      ['credentials', 'list'],
      ['channels', 'list', '--json'],
      ['export'],
      ['doctor'],
      ['credentials', 'list', '--json'],
    ].map((words) => runHeadgate(words, configured.options)),
  );
  expectNoSecret(await metrics(), ...shown.map(({ stdout, stderr }) => stdout + stderr));
  await runHeadgate(['credentials', 'remove', id], configured.options);
  await vi.waitFor(async () => expect(await statusOfCall()).toBe(503), promptly);
});

test('when the key file is gone the gateway starts without those credentials, and has them again when it is back', async () => {
  configured.write(fileWith({}));
  await runHeadgate(['apply'], configured.options);
  await runHeadgate(['credentials', 'add', 'one'], { ...configured.options, input: 'sk-up-kept' });
  upstream.accepted.add('sk-up-kept');
  const keyFile = join(directory, 'credentials-key');
  const key = readFileSync(keyFile);
  rmSync(keyFile);
  await serve({});
  expect(await statusOfCall()).toBe(503);
  await said(`${keyFile} is not there; put that file back`);
  writeFileSync(keyFile, key, { mode: 0o600 });
  await vi.waitFor(async () => expect(await statusOfCall()).toBe(200), promptly);
  expectNoSecret(await metrics());
});
