import { storeFile } from '../../packages/gateway/src/admin/owner-files.ts';
import type { Finding, LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import { openSqliteStore } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';

/** All that a run left in its ledger. */
export interface LedgerFindings {
  readonly entries: readonly LedgerRecord[];
  /** Broken invariants of the ledger itself. */
  readonly findings: readonly Finding[];
}

/** Reads the ledger of a gateway that has ended. */
export async function readLedger(dataDir: string): Promise<LedgerFindings> {
  const store = await openSqliteStore({
    file: storeFile(dataDir),
    durability: 'strict',
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    onAlarm: ({ detail }) => console.error(detail),
  });
  const entries = await Array.fromAsync(store.exportEntries({}));
  const { findings } = await store.verify();
  await store.close();
  return { entries, findings };
}
