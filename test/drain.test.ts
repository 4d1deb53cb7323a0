import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  runCommand,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, framesOf, RawConnection, request } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Long enough for processes that start on a busy machine. */
const patience = { timeout: 30_000 };

const models = {
  unhurried: 'sim-fast+tokens=60,rate=20/s',
  endless: 'sim-fast+tokens=100000,rate=20/s',
  torrent: 'sim-fast+tokens=1000000',
};

let simulator: SimulatorWorker;
beforeAll(async () => {
  simulator = await startSimulatorWorker();
});
afterAll(() => simulator.close());

/** A gateway of its own for one test, with its directory. */
async function openGateway(flags: readonly string[]) {
  await using opened = new AsyncDisposableStack();
  const directory = opened.use(temporaryDirectory());
  const configured = configureDirectory(directory.path, {
    channels: [{ id: 'simulated', origin: simulator.origin, models }],
  });
  const serving = opened.use(await serveHeadgate({ ...configured.options, flags }));
  const everything = opened.move();
  return { configured, serving, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

/** Begins a stream; resolves once content has come. */
async function beginStream(
  { ready }: ServingProcess,
  { key }: ConfiguredDirectory,
  model: keyof typeof models,
): Promise<RawConnection> {
  const messages = [{ role: 'user', content: 'Tell me a story.' }];
  const connection = new RawConnection(ready.apiOrigin);
  connection.send(chatRequest(key, { model, stream: true, messages }));
  await connection.seen('"content":"');
  return connection;
}

/** Asks for an orderly end; resolves once the process has taken notice. */
async function terminate({ ready, process }: ServingProcess): Promise<void> {
  process.signal('SIGTERM');
  await vi.waitFor(async () => {
    const answer = await fetch(`${ready.consoleOrigin}/readyz`);
    expect(await answer.json()).toEqual({ status: 'not-ready', reasons: ['draining'] });
  }, patience);
}

interface Entry {
  readonly status: string;
  readonly unbilledReason: string | null;
  readonly chargeNanoUsd: string;
}

/** Every entry of the ledger, which must be sound. */
async function entriesOf({ options }: ConfiguredDirectory): Promise<readonly Entry[]> {
  const verified = await runCommand(['ledger', 'verify', '--json'], options);
  expect(JSON.parse(verified.stdout)).toMatchObject({ findings: [] });
  const exported = await runCommand(['ledger', 'export'], options);
  const lines = exported.stdout.split('\n').filter((line) => line !== '');
  // Each line of an export is one entry.
  return lines.map((line) => JSON.parse(line) as Entry);
}

test('told to stop, it takes no new calls, finishes the running ones and leaves with every entry written', async () => {
  await using gateway = await openGateway([]);
  const { configured, serving } = gateway;
  const call = chatRequest(configured.key, { model: 'unhurried', messages: [] });
  const begun = new RawConnection(serving.ready.apiOrigin).send(call.subarray(0, 20));
  const streams = await Promise.all(
    Array.from({ length: 20 }, () => beginStream(serving, configured, 'unhurried')),
  );
  await terminate(serving);

  const late = new RawConnection(serving.ready.apiOrigin);
  expect(await late.farewell()).toBe('RST');
  const refusal = await begun.send(call.subarray(20)).answer();
  expect(refusal.status).toBe(503);
  expect(JSON.parse(refusal.body.toString())).toMatchObject({ error: { code: 'overloaded' } });
  expect(Object.fromEntries(refusal.headers)).toMatchObject({ 'retry-after': '1', connection: 'close' });

  const answers = await Promise.all(streams.map((stream) => stream.answer()));
  for (const answer of answers) {
    expect(answer.isWhole).toBe(true);
    expect(framesOf(answer.body).at(-1)).toBe('data: [DONE]\n\n');
  }
  expect(await serving.process.ended).toEqual({ code: 0, signal: null });
  const entries = await entriesOf(configured);
  expect(entries.map(({ status }) => status)).toEqual(streams.map(() => 'complete'));
});

test('a stream that outlives the drain time-out is told, cut off, and not billed', async () => {
  await using gateway = await openGateway(['--drain-timeout', '300ms']);
  const { configured, serving } = gateway;
  const stream = await beginStream(serving, configured, 'endless');
  serving.process.signal('SIGTERM');
  const answer = await stream.answer();
  expect(answer.isWhole).toBe(false);
  expect(answer.body.toString()).not.toContain('[DONE]');
  expect(framesOf(answer.body).at(-1)).toMatch(/^data: \{"error":\{.*"code":"overloaded"/);
  expect(await serving.process.ended).toEqual({ code: 0, signal: null });
  expect(await entriesOf(configured)).toMatchObject([
    { status: 'failed', unbilledReason: 'cut_after_content', chargeNanoUsd: '0' },
  ]);
});

test.each([
  [
    'has stopped reading',
    async (serving: ServingProcess, configured: ConfiguredDirectory) => {
      const stream = await beginStream(serving, configured, 'torrent');
      stream.pause();
      return 1;
    },
  ],
  [
    'never finishes its request',
    (serving: ServingProcess, { key }: ConfiguredDirectory) => {
      const head = [`authorization: Bearer ${key}`, 'content-length: 1000'];
      new RawConnection(serving.ready.apiOrigin)
        .send(request('POST /v1/chat/completions', head))
        .send('{"model"');
      return Promise.resolve(0);
    },
  ],
  [
    'never finishes a request to the console',
    (serving: ServingProcess) => {
      new RawConnection(serving.ready.consoleOrigin).send('GET /healthz HTTP/1.1\r\n');
      return Promise.resolve(0);
    },
  ],
])('a caller who %s cannot hold the end up', async (_, misbehave) => {
  await using gateway = await openGateway(['--drain-timeout', '300ms']);
  const { configured, serving } = gateway;
  const calls = await misbehave(serving, configured);
  serving.process.signal('SIGTERM');
  expect(await serving.process.ended).toEqual({ code: 0, signal: null });
  const entries = await entriesOf(configured);
  expect(entries).toHaveLength(calls);
  for (const { status } of entries) expect(status).not.toBe('open');
});

test('a second signal ends it at once; the next start finds what was cut off', async () => {
  await using gateway = await openGateway(['--drain-timeout', '1h']);
  const { configured, serving } = gateway;
  const stream = await beginStream(serving, configured, 'endless');
  await vi.waitFor(
    async () => expect(await entriesOf(configured)).toMatchObject([{ status: 'open' }]),
    patience,
  );
  await terminate(serving);
  serving.process.signal('SIGTERM');
  expect(await serving.process.ended).toEqual({ code: 1, signal: null });
  expect((await stream.answer()).isWhole).toBe(false);
  await using next = await serveHeadgate(configured.options);
  await vi.waitFor(() => expect(next.process.stderr).toContain('cut off'), patience);
  expect(await entriesOf(configured)).toMatchObject([{ status: 'interrupted', chargeNanoUsd: '0' }]);
});
