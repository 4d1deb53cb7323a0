import { randomUUIDv7 } from 'node:crypto';
import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';
import { sampleEntry, settle } from './samples.ts';

// Started by the crash test as a process of its own, to be killed.
const [file = '', segmentBytes = ''] = process.argv.slice(2);
void settleForEver();

/** Takes over what the killed have left, as a start does, and settles until it is killed itself. */
async function settleForEver(): Promise<void> {
  const store = await openSqliteStore({
    file,
    durability: 'strict',
    clock: { now: Date.now, monotonic: () => performance.now() },
    segmentBytes: Number(segmentBytes),
    onAlarm: (alarm) => console.error(alarm),
  });
  process.send?.([]);
  const { damage } = await store.recover(() => undefined);
  if (damage !== null) throw new Error(`${damage.file}, byte ${damage.offset}: ${damage.detail}`);
  store.ledger.open(sampleEntry({ traceId: newTraceId() }));
  await store.ledger.flush();
  for (;;) {
    const entries = Array.from({ length: 40 }, () => sampleEntry({ traceId: newTraceId() }));
    store.ledger.open(sampleEntry({ traceId: newTraceId() }));
    for (const entry of entries.slice(0, 3)) store.ledger.open(entry);
    const settlements = await Promise.all(entries.map((entry) => settle(store.ledger, entry)));
    process.send?.(
      entries.filter((_, index) => settlements[index] === 'settled').map((entry) => entry.traceId),
    );
  }
}

function newTraceId(): string {
  return randomUUIDv7().replaceAll('-', '');
}
