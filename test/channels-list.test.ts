import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { configureDirectory, runCommand, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, RawConnection } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let simulator: SimulatorWorker;
beforeAll(async () => {
  simulator = await startSimulatorWorker();
});
afterAll(() => simulator.close());

const longName = 'a-channel-whose-name-is-far-too-long-for-a-terminal';
const nobody = 'http://127.0.0.1:1';
const messages = [{ role: 'user', content: 'Hello' }];

test('channels show how they stand: live while a gateway runs, and as it was saved after it', async () => {
  using directory = temporaryDirectory();
  const models = { quick: 'sim-fast+tokens=2' };
  const { key, options } = configureDirectory(directory.path, {
    channels: [
      { id: longName, origin: nobody, models, priority: 0 },
      { id: 'good', origin: simulator.origin, models: { ...models, other: 'sim-fast' }, priority: 1 },
    ],
  });
  await using serving = await serveHeadgate(options);
  const list = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await runCommand(['channels', 'list', ...words], options);
    return { code, stdout, stderr };
  };
  const jsonOf = async (...words: readonly string[]) =>
    JSON.parse((await list(...words, '--json')).stdout) as { readonly channels: unknown };
  for (let count = 0; count < 12; count++) {
    const answer = await new RawConnection(serving.ready.apiOrigin)
      .send(chatRequest(key, { model: 'quick', stream: true, messages }))
      .answer();
    expect(answer.status).toBe(200);
  }
  expect(await jsonOf()).toMatchObject({
    seen: 'live',
    channels: [
      {
        id: longName,
        state: 'down',
        sinceMs: expect.any(Number) as number,
        lastFailure: { model: 'quick', words: expect.stringContaining('ECONNREFUSED') as string },
        success: 0,
        targets: [{ model: 'quick', upstreamModel: 'sim-fast+tokens=2' }],
      },
      { id: 'good', state: 'up', success: 1, lastFailure: null, inFlight: 0, models: 2 },
    ],
  });
  const { stdout } = await list();
  const lines = stdout.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines[1]).toMatch(/^down +a-channel-whose-name-is-.*… +0\/1 +0% /);
  expect(lines[2]).toMatch(/^ {2}quick, \d+s ago: .*ECONNREFUSED/);
  expect(lines.at(-2)).toBe('2 channels: 1 down, 1 up.');
  expect((await jsonOf('--state', 'up')).channels).toMatchObject([{ id: 'good' }]);
  expect((await jsonOf('--model', 'oth*')).channels).toMatchObject([{ id: 'good' }]);
  expect((await jsonOf('a-chan*')).channels).toMatchObject([{ id: longName }]);
  expect((await jsonOf('--sort', 'name')).channels).toMatchObject([{ id: longName }, { id: 'good' }]);
  expect(await list('--state', 'dwn')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"down"') as string,
  });
  expect((await list('nobody')).stdout).toBe('None of 2 channels is such a one.\n');

  await vi.waitFor(() => expect(serving.process.stderr).toContain('out of service after failures'));
  const line = serving.process.stderr.split('\n').find((each) => each.includes('out of service'));
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 40,
    channelId: longName,
    reason: expect.stringContaining('ECONNREFUSED') as string,
    durationMs: expect.any(Number) as number,
  });
  const token = readFileSync(join(options.dataDir, 'operator-token'), 'utf8').trim();
  const metrics = await fetch(`${serving.ready.consoleOrigin}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await metrics.text();
  expect(text).toMatch(/headgate_channel_models\{channel="a-channel[^"]*",state="(ejected|trial)"\} 1/);
  expect(text).toContain('headgate_channel_models{channel="good",state="serving"} 2\n');

  const tested = await runCommand(['channels', 'test', '--all'], options);
  expect(tested.code).toBe(1);
  const testLines = tested.stdout.split('\n');
  expect(Math.max(...testLines.map((each) => each.length))).toBeLessThanOrEqual(80);
  expect(tested.stdout).toMatch(/fails +a-channel-whose-name-is\S*… +sim-fast\+tokens=2 +– /);
  expect(tested.stdout).toContain('nobody listens there');
  expect(testLines.filter((each) => /^works +good /.test(each))).toHaveLength(2);
  expect(testLines.at(-2)).toBe('1 of 3 fail.');
  const alone = await runCommand(['channels', 'test', 'good'], options);
  expect(alone).toMatchObject({ code: 0, stdout: expect.stringContaining('All 1 work.') as string });

  serving.process.signal('SIGTERM');
  await serving.process.ended;
  expect(await jsonOf()).toMatchObject({
    seen: 'saved',
    channels: [{ id: longName, state: 'down' }, { id: 'good' }],
  });
  expect((await list()).stdout).toContain('No gateway runs here');
});
