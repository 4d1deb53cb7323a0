import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { frameOf } from '../packages/gateway/src/store/journal/format.ts';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { disksAreOurs, SmallDisk } from './support/disks.ts';
import {
  configureDirectory,
  type ProcessOptions,
  runCommand,
  runHeadgate,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange } from './support/raw-http.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let simulator: SimulatorWorker;
let options: ProcessOptions;
const origin = temporaryDirectory();
/** A data directory as a gateway leaves it that has stopped in order, and as one leaves it that was killed. */
const whole = join(origin.path, 'whole');
const killed = join(origin.path, 'killed');

beforeAll(async () => {
  simulator = await startSimulatorWorker();
  mkdirSync(whole);
  const configuration = {
    channels: [{ id: 'simulated', origin: simulator.origin, models: { fast: 'sim-fast' } }],
  };
  const configured = configureDirectory(whole, configuration);
  options = configured.options;
  const serving = await serveHeadgate(options);
  const body = { model: 'fast', messages: [{ role: 'user', content: 'Hello.' }] };
  for (let time = 0; time < 10; time++)
    await exchange(serving.ready.apiOrigin, chatRequest(configured.key, body));
  await runCommand(['ledger', 'verify'], options);
  cpSync(whole, killed, { recursive: true });
  serving.process.signal('SIGTERM');
  await serving.process.ended;
});
afterAll(async () => {
  await simulator.close();
  origin[Symbol.dispose]();
});

/** A copy of such a directory to do harm to. */
function copyOf(directory: string): Disposable & { readonly path: string } {
  const copy = temporaryDirectory();
  cpSync(directory, copy.path, { recursive: true });
  return copy;
}

const database = (dataDir: string) => join(dataDir, 'headgate.sqlite');

function overwrite(file: string, from: number, bytes: number): void {
  const content = readFileSync(file);
  writeFileSync(file, content.fill(0xa5, from, from + bytes));
}

function withSql(dataDir: string, sql: string): void {
  const opened = new DatabaseSync(database(dataDir));
  opened.exec(sql);
  opened.close();
}

/** A page of the table that keys are in, which every start reads. */
function pageOfKeys(dataDir: string): number {
  const opened = new DatabaseSync(database(dataDir));
  const row = opened.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'keys'").get();
  opened.close();
  return Number(row?.['rootpage']);
}

function segmentIn(dataDir: string): string {
  const journals = join(dataDir, 'journal');
  const [run = ''] = readdirSync(journals).filter((name) => /^\d+$/.test(name));
  const [segment = ''] = readdirSync(join(journals, run)).filter((name) => /^\d+$/.test(name));
  return join(journals, run, segment);
}

interface Harm {
  readonly to: () => string;
  readonly how: (dataDir: string) => void;
  /** What the operator is told. */
  readonly words: readonly string[];
}

const harms: Readonly<Record<string, Harm>> = {
  'a database that is no database': {
    to: () => whole,
    how: (dataDir) => writeFileSync(database(dataDir), 'This is not a database. '.repeat(1000)),
    words: ['is not a database', '--data-dir'],
  },
  'a database whose first page is overwritten': {
    to: () => whole,
    how: (dataDir) => overwrite(database(dataDir), 0, 100),
    words: ['beginning was overwritten', 'Put a backup of it here'],
  },
  'a database with a page overwritten that every start reads': {
    to: () => whole,
    how: (dataDir) => overwrite(database(dataDir), (pageOfKeys(dataDir) - 1) * 4096, 4096),
    words: ['is damaged', 'Put a backup of it here', '.recover'],
  },
  'a database that ends early': {
    to: () => whole,
    how: (dataDir) => truncateSync(database(dataDir), 8192),
    words: ['is damaged', 'Put a backup of it here'],
  },
  'a database that ends within a page': {
    to: () => whole,
    how: (dataDir) => truncateSync(database(dataDir), readFileSync(database(dataDir)).length - 2048),
    words: ['last page is cut off', 'Put a backup of it here'],
  },
  'an empty database where there was a store': {
    to: () => whole,
    how: (dataDir) => truncateSync(database(dataDir), 0),
    words: ['is empty, but there was a store', 'Put a backup of it here', 'To begin anew'],
  },
  'no database where there was a store': {
    to: () => killed,
    how: (dataDir) => rmSync(database(dataDir)),
    words: ['is missing, but there was a store', 'leave the folder `journal`'],
  },
  'a database of a newer Headgate': {
    to: () => whole,
    how: (dataDir) => withSql(dataDir, 'PRAGMA user_version = 9999'),
    words: ['newer Headgate', '9999', 'backup from before the upgrade'],
  },
  "another program's database": {
    to: () => whole,
    how: (dataDir) => {
      rmSync(database(dataDir));
      withSql(dataDir, 'CREATE TABLE songs (title TEXT)');
    },
    words: ['of another program', '--data-dir'],
  },
  'a journal with a byte turned': {
    to: () => killed,
    how: (dataDir) => overwrite(segmentIn(dataDir), 300, 1),
    words: ['the journal is damaged', 'byte 0', 'headgate ledger salvage'],
  },
  'a file in the place of the folder of journals': {
    to: () => whole,
    how: (dataDir) => {
      rmSync(join(dataDir, 'journal'), { recursive: true, force: true });
      writeFileSync(join(dataDir, 'journal'), '');
    },
    words: ['is no folder', 'Move it away'],
  },
  'a journal of a newer Headgate': {
    to: () => killed,
    how: (dataDir) => {
      const bytes = readFileSync(segmentIn(dataDir));
      writeFileSync(segmentIn(dataDir), newerJournal(bytes));
    },
    words: ['another version of Headgate'],
  },
};

/** The same with its header as a version that is not known here would write it. */
function newerJournal(bytes: Buffer): Buffer {
  const newer = frameOf(['H{"version":2,"columns":["trace_id"]}'], 0);
  newer.copy(bytes);
  return bytes;
}

describe.each(Object.entries(harms))('%s', (_, { to, how, words }) => {
  test('a start ends with 4 and says what to do; doctor says the same', async () => {
    using copy = copyOf(to());
    how(copy.path);
    const here = { ...options, dataDir: copy.path };
    const environment = { ...here.environment, HEADGATE_API_PORT: '0', HEADGATE_CONSOLE_PORT: '0' };
    const started = await runCommand(['serve'], { ...here, environment });
    expect([started.code, started.stderr]).toEqual([4, expect.any(String)]);
    for (const word of words) expect(started.stderr).toContain(word);
    // One sentence for each, and no place in the code.
    expect(started.stderr).not.toMatch(/\n\s+at /);
    const examined = await runCommand(['doctor', '--no-network', '--json'], here);
    expect(examined.code).toBe(1);
    expect(examined.stdout).toContain(copy.path);
    expect(examined.stdout).toMatch(/"state": ?"bad"/);
  });
});

test('a page that no start reads is found by doctor and by verify', async () => {
  using copy = copyOf(whole);
  const opened = new DatabaseSync(database(copy.path));
  const row = opened.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'calls_by_key'").get();
  opened.close();
  overwrite(database(copy.path), (Number(row?.['rootpage']) - 1) * 4096, 4096);
  const here = { ...options, dataDir: copy.path };
  const verified = await runCommand(['ledger', 'verify', '--json'], here);
  expect(verified.code).not.toBe(0);
  expect(verified.stdout + verified.stderr).toMatch(/database-can-be-read|is damaged/);
  const examined = await runCommand(['doctor', '--no-network'], here);
  expect(examined.stdout).toContain('is damaged');
});

test.runIf(disksAreOurs)('a store on a disk that may only be read', async () => {
  using directory = temporaryDirectory();
  using disk = new SmallDisk(directory.path, 32);
  cpSync(killed, disk.path, { recursive: true });
  disk.allowReadingOnly();
  const here = { ...options, dataDir: disk.path };
  const started = await runHeadgate(['serve'], here);
  expect([started.code, started.stderr]).toEqual([4, expect.stringMatching(/cannot be (written|opened)/)]);
  const examined = await runCommand(['doctor', '--no-network'], here);
  expect(examined.stdout).toContain('cannot be written');
});

test('what a first start leaves when it is killed is no remains of a store', async () => {
  using directory = temporaryDirectory();
  writeFileSync(database(directory.path), '');
  const { code } = await runCommand(['keys', 'list'], { ...options, dataDir: directory.path });
  expect(code).toBe(0);
  expect(existsSync(database(directory.path))).toBe(true);
});
