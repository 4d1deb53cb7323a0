import type { Clock } from '../ports/clock.ts';
import type { Damage, Store } from '../ports/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/** How often it is said how far the replay of a journal is. */
const progressIntervalMs = 1000;

/** Takes over what earlier processes have left, before anything is served. Rejects when it cannot be read. */
export async function recover(store: Store, log: Logger, clock: Clock): Promise<void> {
  let toldAt = clock.monotonic();
  const { lines, interrupted, damage } = await store.recover((count) => {
    if (clock.monotonic() - toldAt < progressIntervalMs) return;
    toldAt = clock.monotonic();
    log.info('the journal of an earlier process is being replayed', { count });
  });
  // Nothing behind the damage is in the store, so serving would hide that entries are missing.
  if (damage !== null) throw new DamagedJournalError(damage);
  if (lines > 0) log.info('the journal of an earlier process was replayed', { count: lines });
  if (interrupted > 0)
    log.warn('calls of an earlier process were cut off; they are unbilled', { count: interrupted });
}

/** Says to an operator where a journal is damaged, and what can be done. */
class DamagedJournalError extends Error {
  readonly code = 'DAMAGED_JOURNAL';

  constructor({ file, offset, detail }: Damage) {
    super(
      `the journal is damaged: ${file}, byte ${offset}: ${detail}. Put the file back from a copy, or run \`headgate ledger salvage\` to go on with what can still be read`,
    );
  }
}
