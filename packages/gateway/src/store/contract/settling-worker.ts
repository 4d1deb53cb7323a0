import { randomUUIDv7 } from 'node:crypto';
import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';
import { sampleEntry } from './samples.ts';

// Started by the crash test as a process of its own, to be killed.
void settleForEver(String(process.argv[2]));

async function settleForEver(file: string): Promise<void> {
  const store = await openSqliteStore({
    file,
    durability: 'strict',
    clock: { now: Date.now, monotonic: () => performance.now() },
    onAlarm: (alarm) => console.error(alarm),
  });
  store.ledger.open(sampleEntry({ traceId: newTraceId() }));
  await store.ledger.flush();
  for (;;) {
    const entries = Array.from({ length: 40 }, () => sampleEntry({ traceId: newTraceId() }));
    store.ledger.open(sampleEntry({ traceId: newTraceId() }));
    for (const entry of entries.slice(0, 3)) store.ledger.open(entry);
    const settlements = await Promise.all(entries.map((entry) => store.ledger.settle(entry)));
    process.send?.(
      entries.filter((_, index) => settlements[index] === 'settled').map((entry) => entry.traceId),
    );
  }
}

function newTraceId(): string {
  return randomUUIDv7().replaceAll('-', '');
}
