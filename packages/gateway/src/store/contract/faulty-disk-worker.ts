import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';
import { declaration, epochMs, sampleEntry, settle, traceId } from './samples.ts';

// Started by the disk-fault test under a limit on the size of files; the signal that comes with it must not kill.
process.on('SIGXFSZ', () => undefined);
void settleUntilTheDiskFails(String(process.argv[2]));

async function settleUntilTheDiskFails(file: string): Promise<void> {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: () => undefined });
  await store.configuration.apply('file', declaration, epochMs);
  let settled = 0;
  while ((await settle(store.ledger, entry(settled))) === 'settled') settled++;
  const after = await Promise.all([1, 2, 3].map((number) => settle(store.ledger, entry(settled + number))));
  console.log(JSON.stringify({ settled, after, writable: store.ledger.isWritable() }));
  await store.close();
}

/** Large, so that the limit is met after a few. */
function entry(number: number) {
  return sampleEntry({ traceId: traceId(number), userAgent: 'x'.repeat(20_000) });
}
