import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  type ProcessOptions,
  runHeadgate,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let simulator: SimulatorWorker;
beforeAll(async () => {
  simulator = await startSimulatorWorker();
});
afterAll(() => simulator.close());

function configure(path: string): ConfiguredDirectory {
  const models = { fast: 'sim-fast+tokens=3,ttft=1ms,rate=1000/s' };
  return configureDirectory(path, { channels: [{ id: 'simulated', origin: simulator.origin, models }] });
}

/** Makes some calls, one after the other. Returns their trace ids. */
async function call(origin: string, key: string, times: number): Promise<readonly string[]> {
  const traceIds: string[] = [];
  for (let time = 0; time < times; time++) {
    const body = { model: 'fast', messages: [{ role: 'user', content: 'Hello.' }] };
    const answer = await exchange(origin, chatRequest(key, body));
    expect(answer.status).toBe(200);
    traceIds.push(answer.headers.get('x-trace-id') ?? '');
  }
  return traceIds;
}

async function exported(options: ProcessOptions): Promise<readonly string[]> {
  const { code, stdout } = await runHeadgate(['ledger', 'export'], options);
  expect(code).toBe(0);
  // Each line of an export is one entry.
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { traceId: string }).traceId);
}

async function expectSound(options: ProcessOptions): Promise<void> {
  const { code, stdout } = await runHeadgate(['ledger', 'verify', '--json'], options);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { findings: [], asOfMs: null }]);
}

test('a gateway does not start over a damaged journal, and says what to do about it', async () => {
  using directory = temporaryDirectory();
  const { key, options } = configure(directory.path);
  const serving = await serveHeadgate(options);
  const traceIds = await call(serving.ready.apiOrigin, key, 5);
  await serving[Symbol.asyncDispose]();
  const journals = join(directory.path, 'journal');
  const [run = ''] = readdirSync(journals);
  const [name = ''] = readdirSync(join(journals, run)).filter((file) => /^\d+$/.test(file));
  const file = join(journals, run, name);
  const bytes = readFileSync(file);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  writeFileSync(file, bytes);

  const refused = await runHeadgate(['serve'], options);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain(`${file}, byte 0`);
  expect(refused.stderr).toContain('headgate ledger salvage');
  const verified = await runHeadgate(['ledger', 'verify'], options);
  expect(verified.code).toBe(1);
  expect(verified.stdout).toContain('journals-can-be-read');

  const salvaged = await runHeadgate(['ledger', 'salvage', '--json'], options);
  expect([salvaged.code, JSON.parse(salvaged.stdout)]).toMatchObject([0, [{ file, offset: 0 }]]);
  expect(existsSync(join(journals, `${run}.damaged`))).toBe(true);
  await using again = await serveHeadgate(options);
  expect(await call(again.ready.apiOrigin, key, 1)).toHaveLength(1);
  const found = await exported(options);
  expect(traceIds.filter((traceId) => !found.includes(traceId))).toEqual([]);
  await expectSound(options);
  expect((await runHeadgate(['ledger', 'salvage'], options)).code).toBe(4);
});

test('a backup of a running gateway has every call that had ended before it, and can be started', async () => {
  using directory = temporaryDirectory();
  using other = temporaryDirectory();
  const { key, options } = configure(directory.path);
  const before: string[] = [];
  {
    await using serving = await serveHeadgate(options);
    before.push(...(await call(serving.ready.apiOrigin, key, 20)));
    mkdirSync(other.path, { recursive: true });
    // In the order that the documentation says.
    cpSync(join(directory.path, 'journal'), join(other.path, 'journal'), { recursive: true });
    await call(serving.ready.apiOrigin, key, 5);
    const database = new DatabaseSync(join(directory.path, 'headgate.sqlite'));
    await backup(database, join(other.path, 'headgate.sqlite'));
    database.close();
    for (const file of ['pepper', 'headgate.yaml'])
      copyFileSync(join(directory.path, file), join(other.path, file));
    await call(serving.ready.apiOrigin, key, 5);
  }
  const restored = { ...options, dataDir: other.path };
  await using serving = await serveHeadgate(restored);
  expect(await call(serving.ready.apiOrigin, key, 1)).toHaveLength(1);
  const found = await exported(restored);
  expect(before.filter((traceId) => !found.includes(traceId))).toEqual([]);
  await expectSound(restored);
});

test('two gateways on one directory: each has its journal, and either one writes them all', async () => {
  using directory = temporaryDirectory();
  const { key, options } = configure(directory.path);
  const first = await serveHeadgate(options);
  await using second = await serveHeadgate(options);
  const traceIds = [
    ...(await call(first.ready.apiOrigin, key, 5)),
    ...(await call(second.ready.apiOrigin, key, 5)),
  ];
  expect((await exported(options)).toSorted()).toEqual(traceIds.toSorted());
  // Killed, it leaves its journal to the other.
  await first[Symbol.asyncDispose]();
  traceIds.push(...(await call(second.ready.apiOrigin, key, 5)));
  expect((await exported(options)).toSorted()).toEqual(traceIds.toSorted());
  await expectSound(options);
});
