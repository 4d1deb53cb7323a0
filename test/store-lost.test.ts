import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  type ProcessOptions,
  runCommand,
  runHeadgate,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange, type RawAnswer, RawConnection, request } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const models = {
  quick: 'sim-fast+tokens=2,ttft=1ms,rate=1000/s',
  unhurried: 'sim-fast+tokens=30,rate=20/s',
};
const messages = [{ role: 'user', content: 'Hello.' }];
/** What the issue asks for. */
const noticedMsMax = 1_000;

let simulator: SimulatorWorker;
beforeAll(async () => {
  simulator = await startSimulatorWorker();
});
afterAll(() => simulator.close());

/** A gateway whose data lies in a folder that can be moved away, apart from its configuration. */
async function openGateway() {
  await using opened = new AsyncDisposableStack();
  const directory = opened.use(temporaryDirectory());
  const configured = configureDirectory(directory.path, {
    channels: [{ id: 'simulated', origin: simulator.origin, models }],
  });
  const dataDir = join(directory.path, 'data');
  mkdirSync(dataDir);
  const options = {
    ...configured.options,
    dataDir,
    flags: ['--config', join(directory.path, 'headgate.yaml')],
  };
  const serving = opened.use(await serveHeadgate(options));
  const everything = opened.move();
  const gateway = { ...configured, dataDir, options, serving };
  return { ...gateway, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

type Site = Pick<ConfiguredDirectory, 'key'> & { readonly dataDir: string; readonly serving: ServingProcess };

function call({ serving, key }: Site, model = 'quick', stream = false): Promise<RawAnswer> {
  return exchange(serving.ready.apiOrigin, chatRequest(key, { model, stream, messages }));
}

async function reasons({ serving }: Site): Promise<readonly string[]> {
  const answer = await fetch(`${serving.ready.consoleOrigin}/readyz`);
  // The shape of the readiness probe.
  return ((await answer.json()) as { readonly reasons?: readonly string[] }).reasons ?? [];
}

async function alertsOfLoss({ serving }: Site, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${serving.ready.consoleOrigin}/metrics`, { headers });
  return Number(/^headgate_alerts_total\{kind="store-lost"\} (\d+)/m.exec(await answer.text())?.[1] ?? 0);
}

const tokenIn = (dataDir: string) => readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();

/** The only run there is, and the segment that it writes. */
function journalIn(dataDir: string) {
  const journals = join(dataDir, 'journal');
  const run = readdirSync(journals).find((name) => /^\d+$/.test(name)) ?? '';
  const segment =
    readdirSync(join(journals, run))
      .filter((name) => /^\d+$/.test(name))
      .at(-1) ?? '';
  return { journals, run, segment: join(journals, run, segment) };
}

/** Takes a file or folder away for a while. Returns what brings it back. */
function moveAway(path: string): () => void {
  renameSync(path, `${path}.away`);
  return () => {
    rmSync(path, { recursive: true, force: true });
    renameSync(`${path}.away`, path);
  };
}

/** The same, with a copy in its place: what a restored backup looks like. */
function replace(path: string): () => void {
  const bringBack = moveAway(path);
  cpSync(`${path}.away`, path, { recursive: true });
  return bringBack;
}

const database = (dataDir: string) => join(dataDir, 'headgate.sqlite');

/** What may happen to a data directory while a gateway has it open. */
const losses: Readonly<Record<string, (dataDir: string) => () => void>> = {
  'the segment of the journal is renamed': (dataDir) => moveAway(journalIn(dataDir).segment),
  'the segment of the journal is replaced': (dataDir) => replace(journalIn(dataDir).segment),
  'the folder of journals is renamed': (dataDir) => moveAway(journalIn(dataDir).journals),
  'the folder of journals is replaced': (dataDir) => replace(journalIn(dataDir).journals),
  'the data directory is renamed, as when its disk is unmounted': moveAway,
  'the data directory is replaced, as by a backup': replace,
  'the database is renamed': (dataDir) => moveAway(database(dataDir)),
  'the database is replaced': (dataDir) => replace(database(dataDir)),
  "the database's log is renamed": (dataDir) => moveAway(`${database(dataDir)}-wal`),
  "the database's index is renamed": (dataDir) => moveAway(`${database(dataDir)}-shm`),
  'the lock of the process is renamed': (dataDir) =>
    moveAway(`${database(dataDir)}-run-${journalIn(dataDir).run}`),
};

/** Holds the ledger to its rules. Returns the trace ids of the calls that were answered. */
async function answered({ dataDir, environment = {} }: ProcessOptions): Promise<readonly string[]> {
  const verified = await runCommand(['ledger', 'verify', '--json'], { dataDir, environment });
  expect([verified.code, JSON.parse(verified.stdout)]).toMatchObject([0, { findings: [], asOfMs: null }]);
  const { stdout } = await runCommand(['ledger', 'export'], { dataDir, environment });
  const lines = stdout.split('\n').filter((line) => line !== '');
  // Each line of an export is one entry.
  const entries = lines.map((line) => JSON.parse(line) as { traceId: string; status: string });
  return entries.filter(({ status }) => status === 'complete').map(({ traceId }) => traceId);
}

const idOf = ({ headers }: RawAnswer) => headers.get('x-trace-id') ?? '';

function until(site: Site, trouble: readonly string[]): Promise<void> {
  return vi.waitFor(async () => expect(await reasons(site)).toEqual(trouble), {
    interval: 20,
    timeout: 15_000,
  });
}

async function stop({ serving }: Site): Promise<void> {
  serving.process.signal('SIGTERM');
  expect(await serving.process.ended).toMatchObject({ code: 0 });
}

test('whatever is lost under a running gateway is noticed within a second, and taken up again', async () => {
  await using site = await openGateway();
  const { dataDir, serving } = site;
  const token = tokenIn(dataDir);
  const acknowledged: RawAnswer[] = [];
  const late: number[] = [];
  for (const [what, lose] of Object.entries(losses)) {
    acknowledged.push(await call(site));
    // A call under way ends after the loss.
    const underWay = new RawConnection(serving.ready.apiOrigin);
    underWay.send(chatRequest(site.key, { model: 'unhurried', stream: true, messages }));
    await underWay.seen('data:');

    const since = performance.now();
    const bringBack = lose(dataDir);
    await until(site, ['store-lost']);
    late.push(performance.now() - since);
    const refused = await call(site);
    expect([what, refused.status]).toEqual([what, 503]);
    expect(refused.body.toString()).toContain('store_unavailable');
    const cut = await underWay.answer();
    expect([what, cut.body.toString()]).toEqual([what, expect.stringContaining('store_unavailable')]);
    expect(cut.body.toString()).not.toContain('[DONE]');

    bringBack();
    await until(site, []);
    acknowledged.push(await call(site));
  }
  expect(acknowledged.filter(({ status }) => status !== 200)).toEqual([]);
  // A machine that does other things beside may be late now and then.
  expect(late.toSorted((a, b) => a - b)[Math.floor(late.length / 2)]).toBeLessThan(noticedMsMax);
  expect(await alertsOfLoss(site, token)).toBeGreaterThanOrEqual(late.length);
  await stop(site);
  expect(serving.process.stderr).toContain('"alert":"store-lost"');
  expect((await answered(site.options)).toSorted()).toEqual(acknowledged.map(idOf).toSorted());
});

test('a segment that is deleted for good: its entries are in the database, and a start goes on', async () => {
  await using site = await openGateway();
  const answers = [await call(site)];
  // The feeder has opened it by then.
  await delay(500);
  rmSync(journalIn(site.dataDir).segment);
  answers.push(await call(site));
  await until(site, ['store-lost']);
  await stop(site);
  const whole = answers.filter(({ status }) => status === 200).map(idOf);
  expect((await answered(site.options)).toSorted()).toEqual(whole.toSorted());
  await using again = await serveHeadgate(site.options);
  expect((await call({ ...site, serving: again })).status).toBe(200);
});

for (const [what, emptied] of [
  ['a segment that is emptied, as by who rotates logs', (dataDir: string) => journalIn(dataDir).segment],
  ['a database that is emptied', database],
] as const) {
  test(`${what}: is noticed, and nothing is acknowledged into it`, async () => {
    await using site = await openGateway();
    const { status } = await call(site);
    expect(status).toBe(200);
    expect(await answered(site.options)).toHaveLength(1);
    truncateSync(emptied(site.dataDir));
    const since = performance.now();
    await until(site, ['store-lost']);
    expect(performance.now() - since).toBeLessThan(3 * noticedMsMax);
    expect((await call(site)).status).toBe(503);
    await stop(site);
    expect(site.serving.process.stderr).toContain('was cut short');
    expect(await answered(site.options)).toHaveLength(1);
  });
}

test('a report makes no store in an empty folder that took the place of the data directory, and reads none there', async () => {
  await using site = await openGateway();
  const { dataDir, serving, key } = site;
  const report = () =>
    exchange(serving.ready.apiOrigin, request('GET /v1/usage', [`authorization: Bearer ${key}`]));
  expect((await call(site)).status).toBe(200);
  const bringBack = moveAway(dataDir);
  mkdirSync(dataDir);
  // The first report opens a thread for reports.
  const refused = await report();
  expect([refused.status, refused.body.toString()]).toEqual([
    503,
    expect.stringContaining('store_unavailable'),
  ]);
  expect(readdirSync(dataDir)).not.toContain('headgate.sqlite');
  bringBack();
  await until(site, []);
  const told = await report();
  expect(told.status).toBe(200);
  // The shape of a report.
  const { data } = JSON.parse(told.body.toString()) as { data: readonly unknown[] };
  expect(data).toHaveLength(1);
  await stop(site);
});

test('a database that is deleted for good: a start with its backup takes the rest from the journal', async () => {
  await using site = await openGateway();
  const file = database(site.dataDir);
  const answers = [await call(site)];
  expect(await answered(site.options)).toHaveLength(1);
  const backup = join(site.dataDir, '..', 'backup');
  mkdirSync(backup);
  for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, join(backup, `headgate.sqlite${end}`));
  answers.push(await call(site));
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
  await until(site, ['store-lost']);
  await stop(site);
  const refused = await runHeadgate(['serve'], site.options);
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('backup')]);
  cpSync(backup, site.dataDir, { recursive: true });
  await using again = await serveHeadgate(site.options);
  answers.push(await call({ ...site, serving: again }));
  expect((await answered(site.options)).toSorted()).toEqual(answers.map(idOf).toSorted());
});
