import { expect, test, vi } from 'vitest';
import { startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { configurationText } from './support/gateway.ts';
import { configureDirectory, runCommand, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, exchange, RawConnection } from './support/raw-http.ts';

vi.setConfig({ testTimeout: 60_000 });

const messages = [{ role: 'user', content: 'Tell me a story.' }];
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A call as `ledger export` has it. */
interface Exported {
  readonly modelRequested: string;
  readonly priceVersion: string;
  readonly startedAtMs: number;
  readonly chargeNanoUsd: string;
}

test('a gateway that runs takes a planned price at its moment, keeps that of a call under way, and takes one set by a command', async () => {
  await using opened = new AsyncDisposableStack();
  const simulator = opened.adopt(await startSimulatorWorker(), (it) => it.close());
  const directory = opened.use(temporaryDirectory());
  const { origin } = simulator;
  // Each on a channel of its own: an answer is priced by the model of its channel that it names.
  const channels = [
    { id: 'quick', origin, models: { m: 'sim-fast' } },
    { id: 'slow', origin, models: { slow: 'sim-fast+tokens=60,rate=20/s' } },
  ];
  const configured = configureDirectory(directory.path, { channels });
  const serving = opened.use(await serveHeadgate(configured.options));
  const call = (model: string) =>
    exchange(serving.ready.apiOrigin, chatRequest(configured.key, { model, messages }));
  const exported = async (): Promise<readonly Exported[]> => {
    const { stdout } = await runCommand(['ledger', 'export'], configured.options);
    // The command's own shape, which its tests hold.
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Exported]));
  };
  const momentMs = Date.now() + 3_000;
  const from = new Date(momentMs).toISOString();
  const planned = [
    { input: '1', output: '2' },
    { from, input: '3', output: '4' },
  ];
  configured.write(configurationText({ channels, prices: { m: planned, slow: planned } }));
  await pause(momentMs - Date.now() - 1_000);
  const stream = new RawConnection(serving.ready.apiOrigin).send(
    chatRequest(configured.key, { model: 'slow', stream: true, messages }),
  );
  await stream.seen('"content":"');
  expect(Date.now(), 'a machine that is this slow proves nothing').toBeLessThan(momentMs);
  while (Date.now() < momentMs + 1_000) {
    expect((await call('m')).status).toBe(200);
    await pause(20);
  }
  await stream.answer();
  const calls = (await exported()).filter(({ modelRequested }) => modelRequested === 'm');
  const early = calls.filter(({ startedAtMs }) => startedAtMs < momentMs);
  // Taking up a price means reading the configuration, on a machine that runs other tests beside.
  const late = calls.filter(({ startedAtMs }) => startedAtMs > momentMs + 800);
  expect(early.length).toBeGreaterThan(0);
  expect(late.length).toBeGreaterThan(0);
  expect(new Set(early.map(({ priceVersion }) => priceVersion))).toEqual(new Set(['model:m@1']));
  expect(new Set(late.map(({ priceVersion }) => priceVersion))).toEqual(new Set(['model:m@2']));
  const long = (await exported()).find(({ modelRequested }) => modelRequested === 'slow');
  expect(long?.priceVersion).toBe('model:slow@1');

  expect(await runCommand(['prices', 'set', 'm', 'input=5', 'output=6'], configured.options)).toMatchObject({
    code: 0,
  });
  await vi.waitFor(
    async () => {
      await call('m');
      expect((await exported()).some(({ priceVersion }) => priceVersion === 'model:m@3')).toBe(true);
    },
    { timeout: 5_000, interval: 50 },
  );
  expect(await runCommand(['ledger', 'verify'], configured.options)).toMatchObject({ code: 0 });
});
