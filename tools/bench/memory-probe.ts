// Loaded into a server under test before its own code (`--import`): writes what its main thread has allocated and holds to a file
// whenever the process gets SIGWINCH, which nobody else uses where there is no terminal.
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/** All in bytes. */
export interface MemoryReading {
  /** By the main thread in V8's heap, since it began, whether used yet or not. */
  readonly allocated: number;
  /** By the whole process, after a collection. */
  readonly resident: number;
}

/** Pages are given back by other threads. */
const settleMs = 1_000;

const file = process.env.BENCH_PROBE_FILE;
if (isMainThread && file !== undefined) {
  process.on('SIGWINCH', () => {
    // Present since Node 26; its types are older.
    const statistics: { total_allocated_bytes?: number } = getHeapStatistics();
    // The one kind of collection that gives back what V8 keeps for later; others do so when they come some seconds after it.
    globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
    setTimeout(() => {
      const reading: MemoryReading = {
        allocated: statistics.total_allocated_bytes ?? Number.NaN,
        resident: process.memoryUsage.rss(),
      };
      writeFileSync(`${file}.new`, JSON.stringify(reading));
      renameSync(`${file}.new`, file);
    }, settleMs);
  });
}
