import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallEntry } from '../../packages/gateway/src/ports/ledger.ts';
import { lineColumns, writeEntry } from '../../packages/gateway/src/store/columns.ts';
import { sampleEntry, settle, traceId } from '../../packages/gateway/src/store/contract/samples.ts';
import { Feeder } from '../../packages/gateway/src/store/feeder.ts';
import { frameOf } from '../../packages/gateway/src/store/journal/format.ts';
import { Journal } from '../../packages/gateway/src/store/journal/journal.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite/database.ts';
import { migrate } from '../../packages/gateway/src/store/sqlite/migrations.ts';
import { openSqliteStore } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';

/**
 * Prints what an entry costs: CPU of the main thread and of the whole process for each settled entry at 1, 32 and 256 callers,
 * then what carrying it into the store costs, with how many a start replays in a second.
 *
 *     node tools/bench/ledger.ts [entries to replay]
 */
const settles = 20_000;
const replayed = Number(process.argv[2] ?? 100_000);

await main();

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-ledger-bench-'));
  try {
    console.log('callers  main thread  process   (µs of CPU for each entry)');
    for (const callers of [1, 32, 256]) await measureSettling(join(directory, String(callers)), callers);
    await measureReplay(join(directory, 'replay'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measureSettling(directory: string, callers: number): Promise<void> {
  mkdirSync(directory);
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const file = join(directory, 'headgate.sqlite');
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: console.error });
  const entries = Array.from({ length: settles }, (_, number) => entryOf(number));
  await settleAll(entries.slice(0, 2_000), callers);
  const [main, all] = [process.threadCpuUsage(), process.cpuUsage()];
  await settleAll(entries.slice(2_000), callers);
  const count = settles - 2_000;
  const cells = [micros(process.threadCpuUsage(main), count), micros(process.cpuUsage(all), count)];
  console.log(`${String(callers).padStart(7)}  ${cells.map((cell) => cell.padStart(11)).join('  ')}`);
  await store.close();

  async function settleAll(list: readonly CallEntry[], at: number): Promise<void> {
    let next = 0;
    const callOn = async (): Promise<void> => {
      for (let entry = list[next++]; entry !== undefined; entry = list[next++])
        if ((await settle(store.ledger, entry)) !== 'settled') throw new Error('an entry was not settled');
    };
    await Promise.all(Array.from({ length: at }, callOn));
  }
}

/** Replays a journal of a process that died with all of it unfed. */
async function measureReplay(directory: string): Promise<void> {
  mkdirSync(join(directory, 'journal', '7'), { recursive: true });
  await leaveJournal(join(directory, 'journal', '7'));
  const file = join(directory, 'headgate.sqlite');
  const database = openDatabase(file);
  migrate(database);
  const feeder = new Feeder({ database, file, now: Date.now, onAlarm: console.error });
  const [since, cpu] = [performance.now(), process.cpuUsage()];
  let lines = 0;
  for (let isDone = false; !isDone; ) {
    const step = await feeder.replay();
    lines += step.lines;
    isDone = step.isDone;
  }
  const seconds = (performance.now() - since) / 1000;
  feeder.close();
  database.close();
  const bytes = Math.round(statSync(file).size / lines);
  console.log(
    `replayed ${lines} entries in ${seconds.toFixed(1)} s: ${micros(process.cpuUsage(cpu), lines)} µs of CPU each, ${bytes} bytes in the store`,
  );
}

async function leaveJournal(directory: string): Promise<void> {
  const journal = new Journal({ directory, columns: lineColumns, segmentBytes: 16 * 1024 * 1024 });
  const perFrame = 500;
  let bytes = 0;
  for (let from = 0; from < replayed; from += perFrame) {
    const numbers = Array.from({ length: Math.min(perFrame, replayed - from) }, (_, at) => from + at);
    const frame = Buffer.from(
      frameOf(
        numbers.map((number) => writeEntry(entryOf(number))),
        0,
      ),
    );
    bytes += frame.length;
    await new Promise<void>((resolve, reject) =>
      journal.append(frame, frame.length, (error) => (error === null ? resolve() : reject(error))),
    );
  }
  await journal.close();
  console.log(`${Math.round(bytes / replayed)} bytes of journal for each entry`);
}

function entryOf(number: number): CallEntry {
  return sampleEntry({
    traceId: traceId(number),
    keyId: `key-${number % 50}`,
    userAgent: 'OpenAI/JS 7.55.0',
    ttftMs: 80 + ((number * 7919) % 100_000) / 1000,
    durationMs: 400 + ((number * 104_729) % 1_000_000) / 1000,
    finishedAtMs: Date.now(),
  });
}

function micros({ user, system }: NodeJS.CpuUsage, count: number): string {
  return ((user + system) / count).toFixed(1);
}
