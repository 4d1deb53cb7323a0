import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { configurationText } from './support/gateway.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  runCommand,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';

const secret = 'sk-up-a-secret-of-webhooks';
const promptly = { timeout: 10_000, interval: 50 };

interface Message {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: {
    readonly type: string;
    readonly phase: string;
    readonly data: { readonly subject: string };
  };
}

let opened: AsyncDisposableStack;
let messages: Message[] = [];
let status = 200;
let receiver = '';
let directory = '';
let configured: ConfiguredDirectory;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  [messages, status] = [[], 200];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      messages.push({ headers: request.headers, body, event: JSON.parse(body) as Message['event'] });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  receiver = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  directory = opened.use(temporaryDirectory()).path;
  configured = configureDirectory(directory, { channels: [] });
});
afterEach(() => opened.disposeAsync());

function fileWith(credential: string): string {
  const channel = { id: 'one', origin: 'http://127.0.0.1:9', models: { m: 'up' }, credential: 'x' };
  const file = JSON.parse(configurationText({ channels: [channel] })) as {
    channels: { one: Record<string, unknown> };
  };
  const { credential: _, ...plain } = file.channels.one;
  const ops = {
    name: 'ops',
    url: `${receiver}/in?token=t`,
    secret: { environment: 'OPS_SECRET' },
    allowPrivate: true,
  };
  return JSON.stringify({
    ...file,
    alerts: { webhooks: [ops] },
    channels: { one: { ...plain, credential: { environment: credential } } },
  });
}

const environmentOf = () => ({
  ...configured.options.environment,
  ...{ OPS_SECRET: secret, THERE: 'sk-up-there-and-long-enough' },
});

async function headgate(...words: readonly string[]): Promise<string> {
  return (await runCommand(words, { ...configured.options, environment: environmentOf() })).stdout;
}

async function serve(): Promise<ServingProcess> {
  const { options } = configured;
  const environment = environmentOf();
  return opened.use(await serveHeadgate({ ...options, environment, leadsGroup: true }));
}

function isGenuine({ headers, body }: Message): boolean {
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', secret).update(text).digest('base64')}`;
}

const told = () => messages.map(({ event }) => `${event.type} ${event.data.subject} ${event.phase}`);

test('a missing credential is told of when it begins and when it ends, signed, also by another process than the one that noticed', async () => {
  configured.write(fileWith('NOT_THERE'));
  status = 503;
  const first = await serve();
  await vi.waitFor(() => expect(told()).toEqual(['missing-credential channel:one begun']), promptly);
  await vi.waitFor(
    async () => expect(await headgate('events', 'webhooks', '--json')).toContain('HTTP 503'),
    promptly,
  );
  first.process.killGroup();
  await first.process.ended;
  status = 204;
  configured.write(fileWith('THERE'));
  const second = await serve();
  await vi.waitFor(
    () =>
      expect(new Set(told())).toEqual(
        new Set(['missing-credential channel:one begun', 'missing-credential channel:one ended']),
      ),
    promptly,
  );
  // The first message comes again, under the same id.
  await vi.waitFor(() => expect(messages).toHaveLength(3), { timeout: 15_000, interval: 100 });
  expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  expect(messages.every(isGenuine)).toBe(true);
  const listed = await headgate('events', 'list', '--json');
  expect(JSON.parse(listed)).toMatchObject({
    events: [{ kind: 'missing-credential', subject: 'channel:one', endedAtMs: expect.any(Number) as number }],
  });
  const webhooks = await headgate('events', 'webhooks', '--json');
  expect(JSON.parse(webhooks)).toMatchObject({
    webhooks: [{ name: 'ops', delivered: 2, waiting: 0, origin: receiver }],
  });
  expect(await headgate('events', 'test', 'ops')).toContain('ops has taken the message');
  expect(messages.at(-1)?.event.type).toBe('test');
  second.process.signal('SIGTERM');
  await second.process.ended;
  for (const text of [
    first.process.stderr,
    second.process.stderr,
    listed,
    webhooks,
    await headgate('export'),
    ...files(),
  ])
    expect(text).not.toContain('sk-up');
}, 45_000);

function files(): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
}
