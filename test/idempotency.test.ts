import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type ConfiguredDirectory,
  configureDirectory,
  runCommand,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const answer = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'up' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});

let opened: AsyncDisposableStack;
let directory = '';
let configured: ConfiguredDirectory;
/** Requests that have come to the upstream and are not answered. */
let waiting: ServerResponse[] = [];
let asked = 0;
let status = 200;
let holds = false;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  [waiting, asked, status, holds] = [[], 0, 200, false];
  const upstream = createServer((request, response) => {
    request.resume().on('end', () => {
      asked++;
      if (holds) waiting.push(response);
      else send(response);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  opened.defer(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const address = upstream.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  directory = opened.use(temporaryDirectory()).path;
  configured = configureDirectory(directory, { channels: [{ id: 'one', origin, models: { m: 'up' } }] });
});
afterEach(() => opened.disposeAsync());

function send(response: ServerResponse): void {
  const text = status === 200 ? answer : JSON.stringify({ error: { message: 'no', type: 'server_error' } });
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function serve(): Promise<ServingProcess> {
  return opened.use(await serveHeadgate({ ...configured.options, leadsGroup: true }));
}

interface Asked {
  readonly name?: string;
  readonly key?: string;
  readonly text?: string;
}

async function ask({ ready }: ServingProcess, { name = 'once', key, text = 'Is it?' }: Asked = {}) {
  const response = await fetch(`${ready.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key ?? configured.key}`,
      'content-type': 'application/json',
      'idempotency-key': name,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
  });
  const json = (await response.json()) as {
    readonly error?: { readonly code: string };
    readonly trace_id?: string;
  };
  return { status: response.status, headers: response.headers, json, code: json.error?.code };
}

/** The end of a call is written a moment after its caller has seen it. */
async function askAfter(process: ServingProcess, what?: Asked) {
  for (;;) {
    const answered = await ask(process, what);
    if (answered.status !== 409) return answered;
    await wait(100);
  }
}

test('two processes make a call once: the second is told to wait, and then the entry answers', async () => {
  const [first, second] = [await serve(), await serve()];
  holds = true;
  const call = ask(first);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  for (const process of [first, second]) {
    const repeated = await ask(process);
    expect([repeated.status, repeated.code]).toEqual([409, 'call_in_progress']);
    expect(Number(repeated.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect([(await ask(second, { text: 'Or not?' })).status]).toEqual([422]);
  holds = false;
  for (const response of waiting) send(response);
  const { status: made, headers } = await call;
  expect(made).toBe(200);
  const traceId = headers.get('x-trace-id');
  for (const process of [second, first]) {
    const repeated = await askAfter(process);
    expect(repeated.status).toBe(410);
    expect(repeated.headers.get('x-headgate-idempotent-replay')).toBe(traceId);
    expect(repeated.headers.get('x-should-retry')).toBe('false');
    expect(repeated.json).toMatchObject({
      ...{
        object: 'idempotent_replay',
        trace_id: traceId,
        status: 'complete',
        http_status: 200,
        billed: true,
      },
      charge_usd: expect.stringMatching(/^0\.\d+$/) as string,
    });
  }
  const other = await ask(first, { text: 'Or not?' });
  expect([other.status, other.code]).toEqual([422, 'idempotency_key_reused']);
  expect(asked).toBe(1);
  expect((await ask(first, { name: 'twice' })).status).toBe(200);
  expect(asked).toBe(2);
});

test('what a killed process was making is found to have broken off, by the process beside it and by the next one', async () => {
  const [first, second] = [await serve(), await serve()];
  holds = true;
  const [a, b] = [ask(first, { name: 'a' }), ask(first, { name: 'b' })].map((call) => call.catch(() => null));
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  expect((await ask(second, { name: 'a' })).status).toBe(409);
  first.process.killGroup();
  await first.process.ended;
  await Promise.all([a, b]);
  holds = false;
  const statusOf = async (process: ServingProcess, name: string) =>
    (await askAfter(process, { name })).status;
  expect(await statusOf(second, 'a')).toBe(200);
  expect(await statusOf(second, 'a')).toBe(410);
  const next = await serve();
  expect(await statusOf(next, 'b')).toBe(200);
  expect(await statusOf(next, 'a')).toBe(410);
  expect(asked).toBe(4);
});

test('what ended before the kill is not made again', async () => {
  const first = await serve();
  expect((await ask(first)).status).toBe(200);
  first.process.killGroup();
  await first.process.ended;
  const next = await serve();
  expect((await askAfter(next)).status).toBe(410);
  expect(asked).toBe(1);
});

test('fifty at a time over two processes are one call, and one of them beside its killed process', async () => {
  const [first, second] = [await serve(), await serve()];
  const all = Array.from({ length: 50 }, (_, n) => ask(n % 2 === 0 ? first : second));
  const statuses = (await Promise.all(all)).map((each) => each.status);
  expect(statuses.filter((each) => each === 200)).toHaveLength(1);
  expect(statuses.filter((each) => ![200, 409, 410].includes(each))).toEqual([]);
  expect(asked).toBe(1);
  for (let round = 0; round < 5; round++) expect((await ask(first, { name: `r${round}` })).status).toBe(200);
  first.process.killGroup();
  // The entries are durable, and perhaps not in the store.
  const repeated = Array.from({ length: 5 }, (_, round) => askAfter(second, { name: `r${round}` }));
  expect((await Promise.all(repeated)).map((each) => each.status)).toEqual([410, 410, 410, 410, 410]);
  expect(asked).toBe(6);
});

test('a call whose caller leaves while its name is being claimed has an entry, is sent nowhere and may be repeated', async () => {
  const process = await serve();
  const database = new DatabaseSync(join(directory, 'headgate.sqlite'), { timeout: 5_000 });
  database.exec('BEGIN IMMEDIATE');
  const left = fetch(`${process.ready.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${configured.key}`,
      'content-type': 'application/json',
      'idempotency-key': 'once',
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Is it?' }] }),
    signal: AbortSignal.timeout(500),
  });
  await expect(left).rejects.toThrow(/timeout/);
  await wait(200);
  database.exec('ROLLBACK');
  database.close();
  const exported = async () => (await runCommand(['ledger', 'export'], configured.options)).stdout.trim();
  await vi.waitFor(async () => expect(await exported()).toContain('"caller_gone"'), { timeout: 10_000 });
  expect(asked).toBe(0);
  expect((await askAfter(process)).status).toBe(200);
  expect((await exported()).split('\n')).toHaveLength(2);
});

test('a call that failed without a charge may be repeated, and an SDK’s own retries are not in its way', async () => {
  const { ready } = await serve();
  const client = new OpenAI({ apiKey: configured.key, baseURL: `${ready.apiOrigin}/v1`, maxRetries: 2 });
  const create = () =>
    client.chat.completions.create(
      { model: 'm', messages: [{ role: 'user', content: 'Is it?' }] },
      { headers: { 'idempotency-key': 'sdk' } },
    );
  status = 500;
  setTimeout(() => {
    status = 200;
  }, 300);
  const completion = await create();
  expect(completion.choices[0]?.message.content).toBe('Yes.');
  const before = asked;
  // No SDK takes the entry for a model's answer, and none tries again.
  await expect(create()).rejects.toMatchObject({ status: 410 });
  expect(asked).toBe(before);
});

test.each(['a b', 'x'.repeat(256), ''])('%j is refused by the name of its header', async (name) => {
  const refused = await ask(await serve(), { name });
  expect([refused.status, refused.json]).toMatchObject([400, { error: { param: 'idempotency-key' } }]);
  expect(asked).toBe(0);
});

test('the ledger is sound, and has an entry for each call that was made', async () => {
  const process = await serve();
  await ask(process);
  await ask(process);
  await ask(process, { name: 'another' });
  const { stdout } = await runCommand(['ledger', 'export'], configured.options);
  expect(stdout.trim().split('\n')).toHaveLength(2);
});
