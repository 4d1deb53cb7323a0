import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { disksAreOurs, SmallDisk } from './support/disks.ts';
import { configureDirectory, runCommand, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, exchange, type RawAnswer, RawConnection } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let simulator: SimulatorWorker;
beforeAll(async () => {
  simulator = await startSimulatorWorker();
});
afterAll(() => simulator.close());

const models = {
  quick: 'sim-fast+tokens=2,ttft=1ms,rate=1000/s',
  unhurried: 'sim-fast+tokens=30,rate=20/s',
};
const messages = [{ role: 'user', content: 'Hello.' }];

/** A disk that can be filled: one of its own, or the process is told that its disk is full. */
interface FillableDisk extends Disposable {
  readonly environment: Readonly<Record<string, string>>;
  fill(): void;
  empty(): void;
}

const preload = fileURLToPath(new URL('./support/pretend-full-disk.ts', import.meta.url));

function pretendedDisk(path: string): FillableDisk {
  const flag = join(path, '..', 'full');
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, PRETEND_FULL_DISK: flag },
    fill: () => writeFileSync(flag, ''),
    empty: () => rmSync(flag, { force: true }),
    [Symbol.dispose]: () => undefined,
  };
}

function smallDisk(path: string): FillableDisk {
  const disk = new SmallDisk(path, 32);
  return {
    environment: {},
    fill: () => disk.fill(),
    empty: () => disk.empty(),
    [Symbol.dispose]: () => disk[Symbol.dispose](),
  };
}

const disks = { 'is really full': smallDisk, 'says that it is full': pretendedDisk };
const usable = Object.entries(disks).filter(([, open]) => disksAreOurs || open === pretendedDisk);

test.each(usable)(
  'a disk that %s: 503 from the first call, and calls are taken when there is room',
  async (_, open) => {
    using directory = temporaryDirectory();
    const { key, options: configured } = configureDirectory(directory.path, {
      channels: [{ id: 'simulated', origin: simulator.origin, models }],
    });
    const dataDir = join(directory.path, 'data');
    mkdirSync(dataDir);
    using disk = open(dataDir);
    const environment = { ...configured.environment, ...disk.environment };
    const flags = ['--config', join(directory.path, 'headgate.yaml')];
    const options = { ...configured, dataDir, environment, flags };
    await using serving = await serveHeadgate(options);
    const { apiOrigin, consoleOrigin } = serving.ready;
    const call = () => exchange(apiOrigin, chatRequest(key, { model: 'quick', messages }));
    const reasons = async () =>
      (await (await fetch(`${consoleOrigin}/readyz`)).json()) as { reasons?: string[] };
    const acknowledged: RawAnswer[] = [await call()];
    const underWay = new RawConnection(apiOrigin);
    underWay.send(chatRequest(key, { model: 'unhurried', stream: true, messages }));
    await underWay.seen('data:');

    disk.fill();
    // Within the time that a full disk may go unnoticed, the room that was taken ahead has place for entries.
    await vi.waitFor(async () => expect((await reasons()).reasons).toEqual(['disk-full']), { interval: 10 });
    const refused = await Promise.all([call(), call(), call()]);
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(refused[0]?.body.toString()).toContain('store_unavailable');
    // What is under way ends as it would otherwise.
    const stream = await underWay.answer();
    expect(stream.body.toString()).toContain('[DONE]');
    acknowledged.push(stream);

    disk.empty();
    await vi.waitFor(async () => expect((await reasons()).reasons).toBeUndefined());
    acknowledged.push(await call());
    expect(acknowledged.map(({ status }) => status)).toEqual([200, 200, 200]);
    serving.process.signal('SIGTERM');
    expect(await serving.process.ended).toMatchObject({ code: 0 });
    expect(serving.process.stderr).toContain('"alert":"disk-full"');
    const verified = await runCommand(['ledger', 'verify', '--json'], options);
    expect(JSON.parse(verified.stdout)).toMatchObject({ findings: [] });
    const exported = await runCommand(['ledger', 'export'], options);
    for (const { headers } of acknowledged) expect(exported.stdout).toContain(headers.get('x-trace-id'));
  },
);

test('calls in a stream of calls are answered whole or refused, wherever the disk becomes full', async () => {
  using directory = temporaryDirectory();
  const { key, options: configured } = configureDirectory(directory.path, {
    channels: [{ id: 'simulated', origin: simulator.origin, models }],
  });
  const dataDir = join(directory.path, 'data');
  mkdirSync(dataDir);
  using disk = (usable[0]?.[1] ?? pretendedDisk)(dataDir);
  const environment = { ...configured.environment, ...disk.environment };
  const options = {
    ...configured,
    dataDir,
    environment,
    flags: ['--config', join(directory.path, 'headgate.yaml')],
  };
  await using serving = await serveHeadgate(options);
  const answers: RawAnswer[] = [];
  let isOver = false;
  const callers = Array.from({ length: 8 }, async () => {
    while (!isOver)
      answers.push(await exchange(serving.ready.apiOrigin, chatRequest(key, { model: 'quick', messages })));
  });
  const statuses = () => new Set(answers.map(({ status }) => status));
  await vi.waitFor(() => expect(statuses()).toContain(200));
  for (let time = 0; time < 3; time++) {
    disk.fill();
    const since = answers.length;
    await vi.waitFor(() => expect(answers.slice(since).map(({ status }) => status)).toContain(503));
    disk.empty();
    const from = answers.length;
    await vi.waitFor(() => expect(answers.slice(from).map(({ status }) => status)).toContain(200), {
      timeout: 5_000,
    });
  }
  isOver = true;
  await Promise.all(callers);
  expect([...statuses()].toSorted()).toEqual([200, 503]);
  serving.process.signal('SIGTERM');
  await serving.process.ended;
  const verified = await runCommand(['ledger', 'verify', '--json'], options);
  expect(JSON.parse(verified.stdout)).toMatchObject({ findings: [] });
  const exported = await runCommand(['ledger', 'export'], options);
  const lost = answers.filter(
    ({ status, headers }) => status === 200 && !exported.stdout.includes(headers.get('x-trace-id') ?? '?'),
  );
  expect(lost).toEqual([]);
});
