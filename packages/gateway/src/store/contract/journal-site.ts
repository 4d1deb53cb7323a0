import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Durability, LedgerAlarm } from '../../ports/store.ts';
import { Feeder } from '../feeder.ts';
import { type Disk, realDisk } from '../journal/journal.ts';
import { JournalLedger } from '../journal/ledger.ts';
import { openDatabase } from '../sqlite/database.ts';
import { migrate } from '../sqlite/migrations.ts';
import { StoreWatch } from '../store-watch.ts';

/** A real disk that can be told to fail. */
class FaultyDisk implements Disk {
  /** Bytes of each write of frames so far. */
  readonly writes: number[] = [];
  /** Writes fail with this code. */
  writeFault: string | null = null;
  /** Flushing a file that was prepared fails with this code. */
  flushFault: string | null = null;
  /** Taking room for another segment fails with this code. */
  openFault: string | null = null;
  /** The most that one write takes. */
  takesAtMost = Number.POSITIVE_INFINITY;
  #gate: Promise<void> = Promise.resolve();

  /** Holds every write back until the returned function is called. */
  shut(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  readonly open: Disk['open'] = (path, flags) => {
    if (this.openFault !== null) return Promise.reject(faultOf(this.openFault));
    return realDisk.open(path, flags);
  };

  readonly write: Disk['write'] = (file, bytes, from, length, position, done) => {
    this.writes.push(length);
    void this.#gate.then(() => {
      if (this.writeFault === null)
        realDisk.write(file, bytes, from, Math.min(length, this.takesAtMost), position, done);
      else done(faultOf(this.writeFault), 0);
    });
  };

  readonly flush: Disk['flush'] = (file) =>
    this.flushFault === null ? realDisk.flush(file) : Promise.reject(faultOf(this.flushFault));

  readonly rename = realDisk.rename;
  readonly close = realDisk.close;
}

function faultOf(code: string): Error {
  return Object.assign(new Error(`${code}: made by a test`), { code });
}

export interface JournalSiteOptions {
  readonly clock?: Clock;
  readonly durability?: Durability;
  readonly segmentBytes?: number;
}

/**
 * A ledger with the parts of the real one, all in this thread, for tests that reach into it: a disk that fails when it is told to, and
 * a store that is fed when it is asked to.
 */
export function openJournalSite(options: JournalSiteOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-journal-'));
  const file = join(directory, 'headgate.sqlite');
  const database = openDatabase(file);
  migrate(database);
  const alarms: LedgerAlarm[] = [];
  const onAlarm = (alarm: LedgerAlarm) => void alarms.push(alarm);
  const now = options.clock?.now ?? Date.now;
  const feeder = new Feeder({ database, file, now, onAlarm, intervalMs: 3_600_000 });
  const disk = new FaultyDisk();
  const watch = new StoreWatch({ file, onAlarm });
  const ledger = new JournalLedger({
    durability: 'strict',
    segmentBytes: 64 * 1024,
    clock: { now, monotonic: () => performance.now() },
    ...options,
    begin: () => Promise.resolve(feeder.begin()),
    isFed: () => true,
    watch,
    disk,
    onAlarm,
    onCommit: () => undefined,
  });
  return {
    directory,
    file,
    database,
    feeder,
    disk,
    watch,
    alarms,
    ledger,
    calls: () => Number(database.prepare('SELECT count(*) AS calls FROM calls').get()?.['calls'] ?? 0),
    close: async () => {
      await ledger.close();
      feeder.close();
      database.close();
      rmSync(directory, { recursive: true });
    },
  };
}
