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

function fileWith(credential: string, declares = true): string {
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
    ...(declares ? { alerts: { webhooks: [ops] } } : {}),
    channels: { one: { ...plain, credential: { environment: credential } } },
  });
}

const environmentOf = () => ({
  ...configured.options.environment,
  ...{ OPS_SECRET: secret, THERE: 'sk-up-there-and-long-enough' },
});

const options = () => ({ ...configured.options, environment: environmentOf() });

async function headgate(...words: readonly string[]): Promise<string> {
  return (await runCommand(words, options())).stdout;
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
    async () => expect(await headgate('webhooks', 'list', '--json')).toContain('HTTP 503'),
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
  const webhooks = await headgate('webhooks', 'list', '--json');
  expect(JSON.parse(webhooks)).toMatchObject({
    webhooks: [{ name: 'ops', delivered: 2, waiting: 0, origin: receiver }],
  });
  expect(await headgate('webhooks', 'test', 'ops')).toContain('ops has taken the message');
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

/** The secrets that a message is signed by, as Headgate makes them. */
function signersOf({ headers, body }: Message, secrets: readonly string[]): readonly string[] {
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const signatures = String(headers['webhook-signature']).split(' ');
  return secrets.filter((each) => {
    const key = Buffer.from(each.replace('whsec_', ''), 'base64');
    return signatures.includes(`v1,${createHmac('sha256', key).update(text).digest('base64')}`);
  });
}

test('one that a command makes is taken up by the gateway that runs, and so are its next secret and its end', async () => {
  configured.write(fileWith('THERE', false));
  await serve();
  const secretOf = (stdout: string) => (JSON.parse(stdout) as { readonly secret: string }).secret;
  const address = ['--url', `${receiver}/in?token=t`];
  expect((await runCommand(['webhooks', 'create', 'room', ...address], options())).stderr).toContain(
    '--url must be https, unless allowPrivate is true',
  );
  const more = ['--allow-private', 'yes', '--kinds', 'missing-credential', '--description', 'The room'];
  const one = secretOf(await headgate('webhooks', 'create', 'room', ...address, ...more, '--json'));
  const isTaken = async (count: number) => {
    await headgate('webhooks', 'test', 'room');
    expect(messages).toHaveLength(count);
  };
  await isTaken(1);
  // The gateway itself sends what it notices.
  configured.write(fileWith('NOT_THERE', false));
  await vi.waitFor(() => expect(told()).toContain('missing-credential channel:one begun'), promptly);
  const [begun] = messages.slice(-1);
  expect(begun && signersOf(begun, [one])).toEqual([one]);
  const two = secretOf(await headgate('webhooks', 'rotate', 'room', '--grace', '1h', '--json'));
  configured.write(fileWith('THERE', false));
  await vi.waitFor(() => expect(told()).toContain('missing-credential channel:one ended'), promptly);
  const [ended] = messages.slice(-1);
  expect(ended && signersOf(ended, [one, two])).toEqual([one, two]);
  expect(await headgate('webhooks', 'show', 'room')).toContain('description: The room');
  await headgate('webhooks', 'disable', 'room');
  expect(JSON.parse(await headgate('webhooks', 'list', '--json'))).toMatchObject({
    webhooks: [{ name: 'room', source: 'console', enabled: false, keeps: 'store' }],
  });
  await headgate('webhooks', 'remove', 'room');
  expect(JSON.parse(await headgate('webhooks', 'list', '--json'))).toEqual({ webhooks: [] });
  for (const text of files()) for (const each of [one, two]) expect(text).not.toContain(each);
}, 45_000);

function files(): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
}
