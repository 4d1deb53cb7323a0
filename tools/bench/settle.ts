import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CallEntry } from '../../packages/gateway/src/ports/ledger.ts';
import { sampleEntry, settle, traceId } from '../../packages/gateway/src/store/contract/samples.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite/database.ts';
import { openSqliteStore } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { quantile } from '../harness/statistics.ts';

/**
 * Prints how many entries one data directory settles in a second and how many of them reach the store, and how long each takes at a steady
 * 5,000 a second. The keys take turns. Whatever else the machine does is in the figures: the load is printed beside them.
 *
 *     node tools/bench/settle.ts [keys] [entries]
 */
const keys = Number(process.argv[2] ?? 500);
const count = Number(process.argv[3] ?? 100_000);
const callers = 256;
const rate = 5_000;
const steadySeconds = 10;

let made = 0;

await main();

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-settle-bench-'));
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const file = join(directory, 'headgate.sqlite');
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: console.error });
  const settleOne = async () => {
    if ((await settle(store.ledger, nextEntry())) !== 'settled') throw new Error('an entry was not settled');
  };
  try {
    console.log(`${keys} keys, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
    const since = performance.now();
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (made < count) await settleOne();
      }),
    );
    const settledMs = performance.now() - since;
    using looker = openDatabase(file);
    const stored = looker.prepare('SELECT max(rowid) AS stored FROM calls');
    while (Number(stored.get()?.['stored'] ?? 0) < made) await wait(5);
    const storedMs = performance.now() - since;
    console.log(`settled ${perSecond(settledMs)} entries a second, ${callers} callers at once`);
    console.log(`all of them in the store: ${perSecond(storedMs)} a second`);
    const times = await steadily(settleOne);
    const [median, p99] = [quantile(times, 0.5), quantile(times, 0.99)].map((ms) => ms.toFixed(1));
    console.log(`at ${rate} a second: median ${median} ms, p99 ${p99} ms, load ${loadavg()[0]?.toFixed(1)}`);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

function perSecond(ms: number): number {
  return Math.round((count / ms) * 1000);
}

async function steadily(settleOne: () => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  const since = performance.now();
  for (let begun = 0; begun < rate * steadySeconds; ) {
    // An entry is timed from when it was due, so that a pause of this thread counts as well.
    for (const due = ((performance.now() - since) * rate) / 1000; begun < due; begun++) {
      const dueMs = since + (begun * 1000) / rate;
      running.push(settleOne().then(() => void times.push(performance.now() - dueMs)));
    }
    await wait(1);
  }
  await Promise.all(running);
  return times;
}

function nextEntry(): CallEntry {
  const number = made++;
  return sampleEntry({
    traceId: traceId(number),
    keyId: `key-${number % keys}`,
    ttftMs: 80 + ((number * 7919) % 100_000) / 1000,
    durationMs: 400 + ((number * 104_729) % 1_000_000) / 1000,
    finishedAtMs: Date.now(),
  });
}
