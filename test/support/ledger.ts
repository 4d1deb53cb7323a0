import { vi } from 'vitest';
import type { EntryFilter, LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import type { TestGateway } from './gateway.ts';

/** Every entry of the ledger, oldest first. */
export function entriesOf({ store }: TestGateway, filter: EntryFilter = {}): Promise<LedgerRecord[]> {
  return Array.fromAsync(store.exportEntries(filter));
}

/** The one entry of a call, once the call has ended. Rejects when it does not come, or comes twice. */
export function entryOf(gateway: TestGateway, traceId: string | undefined): Promise<LedgerRecord> {
  return onlyEntry(gateway, {}, (entry) => entry.traceId === traceId);
}

/** The one entry of a model that is called once: for callers who left before they were told its trace id, and where there are many. */
export function entryOfModel(gateway: TestGateway, model: string): Promise<LedgerRecord> {
  return onlyEntry(gateway, { model }, () => true);
}

/** The latest entry of a model that was called before, for a call that has begun; once it has ended. */
export function latestEntryOfModel(gateway: TestGateway, model: string): Promise<LedgerRecord> {
  return vi.waitFor(
    async () => {
      const entry = (await entriesOf(gateway)).findLast(({ modelRequested }) => modelRequested === model);
      if (entry === undefined || entry.status === 'open') throw new Error('the call has not ended yet');
      return entry;
    },
    { timeout: 5000, interval: 10 },
  );
}

function onlyEntry(
  gateway: TestGateway,
  filter: EntryFilter,
  matches: (entry: LedgerRecord) => boolean,
): Promise<LedgerRecord> {
  return vi.waitFor(
    async () => {
      const [entry, ...more] = (await entriesOf(gateway, filter)).filter(matches);
      if (entry === undefined || entry.status === 'open') throw new Error('the call has no entry yet');
      if (more.length > 0) throw new Error('the call has more than one entry');
      return entry;
    },
    { timeout: 5000, interval: 10 },
  );
}
