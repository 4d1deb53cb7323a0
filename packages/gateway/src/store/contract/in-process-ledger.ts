import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import type { Durability, LedgerAlarm } from '../../ports/store.ts';
import { type BatchWriter, GroupCommit } from '../group-commit.ts';
import { Committer } from '../sqlite/committer.ts';
import { openDatabase } from '../sqlite/database.ts';
import { migrate } from '../sqlite/migrations.ts';

/** A ledger in memory and in this thread, with the parts of the real one, for tests that reach into it. */
export function openInProcessLedger(clock: Clock, durability: Durability = 'strict') {
  const database: DatabaseSync = openDatabase(':memory:');
  migrate(database);
  const committer = new Committer(database);
  const sizes: number[] = [];
  const alarms: LedgerAlarm[] = [];
  let gate: Promise<void> = Promise.resolve();
  const writer: BatchWriter = {
    async commit(take) {
      const batch = take();
      sizes.push(batch.opens.length + batch.settles.length);
      await gate;
      return committer.commit(batch, () => null);
    },
    probe: () => Promise.resolve(committer.probe()),
  };
  return {
    database,
    /** Entries of each commit so far. */
    sizes,
    alarms,
    ledger: new GroupCommit({
      writer,
      clock,
      durability,
      onAlarm: (alarm) => alarms.push(alarm),
      onCommit: () => undefined,
    }),
    /** Holds every commit back until the returned function is called. */
    shut(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    calls: () => Number(database.prepare('SELECT count(*) AS calls FROM calls').get()?.['calls'] ?? 0),
  };
}
