import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { configurationText } from './support/gateway.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  runCommand,
  runHeadgate,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange, framesOf, RawConnection } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Changes take effect within a second, on a machine that does not run other tests beside. */
const promptly = { timeout: 3_000, interval: 20 };

const messages = [{ role: 'user', content: 'Tell me a story.' }];

let simulator: SimulatorWorker;
const opened = new AsyncDisposableStack();
let configured: ConfiguredDirectory;
let serving: ServingProcess;

beforeAll(async () => {
  simulator = opened.adopt(await startSimulatorWorker(), (it) => it.close());
  const directory = opened.use(temporaryDirectory());
  configured = configureDirectory(directory.path, {
    channels: [{ id: 'first', origin: simulator.origin, models: { steady: 'sim-fast+tokens=60,rate=20/s' } }],
  });
  serving = opened.use(await serveHeadgate(configured.options));
});
afterAll(() => opened.disposeAsync());

/** Begins streams, makes a change while they run, and expects every one of them to be whole. */
async function underStreams(change: () => Promise<void>): Promise<void> {
  const call = chatRequest(configured.key, { model: 'steady', stream: true, messages });
  const streams = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const stream = new RawConnection(serving.ready.apiOrigin).send(call);
      await stream.seen('"content":"');
      return stream;
    }),
  );
  await change();
  const answers = await Promise.all(streams.map((stream) => stream.answer()));
  for (const answer of answers) {
    expect(answer.isWhole).toBe(true);
    expect(framesOf(answer.body).at(-1)).toBe('data: [DONE]\n\n');
  }
}

/** The status of a short call. */
async function statusOf(model: string, key = configured.key): Promise<number> {
  const answer = await exchange(serving.ready.apiOrigin, chatRequest(key, { model, messages }));
  return answer.status;
}

test('a changed file takes effect within a second and drops no call, even where its channel is gone', async () => {
  await underStreams(async () => {
    expect(await statusOf('added')).toBe(404);
    const models = { steady: 'sim-fast+tokens=60,rate=20/s', added: 'sim-fast' };
    configured.write(configurationText({ channels: [{ id: 'second', origin: simulator.origin, models }] }));
    await vi.waitFor(async () => expect(await statusOf('added')).toBe(200), promptly);
  });
  const channels = await runCommand(['channels', 'list', '--json'], configured.options);
  expect(JSON.parse(channels.stdout)).toMatchObject({ channels: [{ id: 'second' }] });
});

test('a file with a mistake is refused whole, with its place, and what was in force stays', async () => {
  await underStreams(async () => {
    configured.write(
      'models:\n  other: {}\nchannels:\n  third:\n    provider: nobody\n    models: [other]\n',
    );
    await vi.waitFor(() => {
      expect(serving.process.stderr).toMatch(/configuration refused: \S*headgate\.yaml:5:15/);
    }, promptly);
    expect([await statusOf('added'), await statusOf('other')]).toEqual([200, 404]);
  });
});

test('a key made or revoked by a command beside it works or is refused within a second', async () => {
  const made = await runHeadgate(['keys', 'create', '--group', 'completions', '--json'], configured.options);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  // The command's own shape, which its tests hold.
  const { id, key } = JSON.parse(made.stdout) as { readonly id: string; readonly key: string };
  await vi.waitFor(async () => expect(await statusOf('added', key)).toBe(200), promptly);
  expect(await runCommand(['keys', 'revoke', id], configured.options)).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await statusOf('added', key)).toBe(401), promptly);
});
