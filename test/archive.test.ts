import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startSimulatorWorker } from '@headgate/simulator';
import { expect, test } from 'vitest';
import { declaration, epochMs } from '../packages/gateway/src/store/contract/samples.ts';
import { openSqliteStore } from '../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../packages/gateway/src/store/sqlite/same-thread-lane.ts';
import { fillStore } from './support/large-store.ts';
import {
  configureDirectory,
  HeadgateProcess,
  type ProcessOptions,
  runCommand,
  runHeadgate,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange, request } from './support/raw-http.ts';
import { isSlow } from './support/slow-form.ts';

const dayMs = 86_400_000;
const calls = isSlow ? 30_000 : 12_000;
const kills = isSlow ? 25 : 4;
const beforeDate = new Date(Date.now() - 9 * dayMs).toISOString().slice(0, 10);

/** Calls of ninety days, with the prices that they were charged by. */
async function fill(dataDir: string): Promise<void> {
  const file = join(dataDir, 'headgate.sqlite');
  fillStore(file, 'completions', calls);
  const store = await openSqliteStore({
    file,
    durability: 'strict',
    clock: { now: Date.now, monotonic: () => performance.now() },
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  await store.configuration.apply('import', declaration, epochMs);
  await store.close();
}

async function exported(options: ProcessOptions): Promise<string> {
  const { code, stdout } = await runCommand(['ledger', 'export', '--to', beforeDate], { ...options });
  expect(code).toBe(0);
  return createHash('sha256').update(stdout).digest('hex');
}

async function expectSound(options: ProcessOptions): Promise<void> {
  const { code, stdout } = await runCommand(['ledger', 'verify', '--json'], options);
  expect(JSON.parse(stdout)).toMatchObject({ findings: [] });
  expect(code).toBe(0);
}

test('archiving that is killed at any moment loses nothing, and goes on beside a gateway that serves', {
  timeout: 600_000,
}, async () => {
  using directory = temporaryDirectory();
  await fill(directory.path);
  const simulator = await startSimulatorWorker();
  const { key, options } = configureDirectory(directory.path, {
    channels: [{ id: 'simulated', origin: simulator.origin, models: { m: 'sim-fast+tokens=7' } }],
  });
  const before = await exported(options);
  await using serving = await serveHeadgate(options);
  const { apiOrigin } = serving.ready;
  const call = async () =>
    expect(
      await exchange(
        apiOrigin,
        chatRequest(key, { model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
      ),
    ).toMatchObject({
      status: 200,
    });
  const usageOf = async (search: string) => {
    const headers = [`authorization: Bearer ${key}`];
    const answer = await exchange(apiOrigin, request(`GET /v1/usage?${search}`, headers));
    expect(answer.status).toBe(200);
    return JSON.parse(answer.body.toString()) as {
      data: { trace_id: string }[];
      next_cursor: string | null;
      usage: { total: { calls: number } };
    };
  };
  const day = new Date(Date.now() - 60 * dayMs).toISOString().slice(0, 10);
  const search = `start_date=${day}&end_date=${day}&limit=200`;
  const page = await usageOf(search);
  expect(page.data.length).toBeGreaterThan(50);

  const words = ['ledger', 'archive', '--before', beforeDate];
  for (let kill = 0; kill < kills; kill++) {
    await using archiving = new HeadgateProcess(words, options);
    await setTimeout(250 + (kill % 20) * 37);
    await call();
    archiving.signal('SIGKILL');
    await archiving.ended;
  }
  const end = await runHeadgate([...words, '--json'], options);
  expect(end).toMatchObject({ code: 0 });
  expect(JSON.parse(end.stdout)).toMatchObject({ isWhole: true });
  expect((await runHeadgate(words, options)).stdout).toBe('No calls that old are left to move.\n');
  const files = readdirSync(join(directory.path, 'archive'));
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((name) => !name.endsWith('.ndjson.zst'))).toEqual([]);

  await call();
  expect(await exported(options)).toBe(before);
  expect((await usageOf(search)).data).toEqual(page.data);
  const [single] = page.data;
  const traceId = single?.trace_id ?? '';
  expect((await usageOf(`trace_id=${traceId}`)).data).toEqual([single]);
  expect((await runCommand(['calls', 'show', traceId], options)).stdout).toContain(
    `${traceId}  complete, billed`,
  );
  await expectSound(options);

  // A file that is gone is named, by those who need it and by no one else.
  for (const name of files) rmSync(join(directory.path, 'archive', name));
  const shown = await runHeadgate(['calls', 'show', traceId], options);
  expect(shown).toMatchObject({ code: 4 });
  expect(shown.stderr).toMatch(/the archive .*\.ndjson\.zst is missing; put it back from a backup/);
  const verified = await runCommand(['ledger', 'verify'], options);
  expect(verified.code).toBe(1);
  expect(verified.stdout).toMatch(/archives-can-be-read .*\.ndjson\.zst is missing/);
  await call();
  const { data } = await usageOf('days=2');
  expect(data.length).toBeGreaterThan(kills);
  await simulator.close();
});

test.each([
  [[], '--before must be a date or a time such as 2026-08-01'],
  [['--before', 'yesterday'], '--before must be a date or a time'],
  [['--before', '2999-01-01'], '--before must be a day ago at least'],
])('refuses %j', async (words, message) => {
  using directory = temporaryDirectory();
  const { code, stderr } = await runCommand(['ledger', 'archive', ...words], { dataDir: directory.path });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
