import type { Clock } from '../../ports/clock.ts';
import type { ConfigurationStore } from '../../ports/configuration-store.ts';
import type { Durability, EntryFilter, LedgerAlarm, LedgerRecord, Store } from '../../ports/store.ts';
import type { UsageReports } from '../../ports/usage-report.ts';
import { type BatchWriter, GroupCommit } from '../group-commit.ts';
import { WorkerLane } from './worker-lane.ts';

export interface SqliteStoreOptions {
  /** Path of the database file, or `:memory:`. Its directory exists. */
  readonly file: string;
  readonly durability: Durability;
  readonly clock: Clock;
  /** Hears of what the answers of `settle` cannot say; private, for the operator. */
  readonly onAlarm: (alarm: LedgerAlarm) => void;
  /** Hears of every commit of the ledger, for metrics. */
  readonly onCommit?: (entries: number, durationMs: number) => void;
}

/**
 * The embedded store. One thread writes, another reads, so that no report ever keeps a settlement waiting; what is in
 * memory has one thread for both. Rejects when the file cannot be opened or is newer than this build.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, clock } = options;
  const writer = new WorkerLane(file);
  const reader = file === ':memory:' ? writer : new WorkerLane(file);
  const close = async () => {
    if (reader !== writer) await reader.close();
    await writer.close();
  };
  // The writer comes first, because it brings the file to the newest schema.
  await writer
    .run('revision', () => [])
    .catch(async (error: unknown) => {
      await close();
      throw error;
    });
  const ledger = new GroupCommit({
    onCommit: () => undefined,
    ...options,
    writer: batchWriter(writer, clock),
  });
  return {
    ledger,
    reports: usageReports(reader),
    configuration: configurationStore(writer, reader, clock),
    routerStates: {
      load: () => reader.run('loadRouterStates', () => []),
      save: (...inputs) => writer.run('saveRouterStates', () => inputs),
    },
    recoverInterrupted: () => writer.run('recoverInterrupted', () => []),
    exportEntries: (filter) => exportEntries(reader, filter),
    findEntry: (...inputs) => reader.run('record', () => inputs),
    verify: () => reader.run('verify', () => []),
    close: async () => {
      await ledger.flush();
      await close();
    },
  };
}

function batchWriter(writer: WorkerLane, clock: Clock): BatchWriter {
  return {
    commit: (take) => writer.run('commit', () => [take(), clock.now()]),
    probe: () => writer.run('probe', () => []),
  };
}

function usageReports(reader: WorkerLane): UsageReports {
  return {
    totals: (...inputs) => reader.run('totals', () => inputs),
    series: (...inputs) => reader.run('series', () => inputs),
    byModel: (...inputs) => reader.run('byModel', () => inputs),
    page: (...inputs) => reader.run('page', () => inputs),
    find: (...inputs) => reader.run('find', () => inputs),
    balance: (...inputs) => reader.run('balance', () => inputs),
  };
}

function configurationStore(writer: WorkerLane, reader: WorkerLane, clock: Clock): ConfigurationStore {
  return {
    revision: () => reader.run('revision', () => []),
    load: () => reader.run('load', () => [clock.now()]),
    apply: (...inputs) => writer.run('apply', () => inputs),
    insertKey: (...inputs) => writer.run('insertKey', () => inputs),
    setKeyStatus: (...inputs) => writer.run('setKeyStatus', () => inputs),
    rotateKey: (...inputs) => writer.run('rotateKey', () => inputs),
  };
}

async function* exportEntries(reader: WorkerLane, filter: EntryFilter): AsyncGenerator<LedgerRecord> {
  let last = '';
  for (;;) {
    const after = last;
    const page = await reader.run('records', () => [filter, after]);
    yield* page;
    const end = page.at(-1);
    if (end === undefined) return;
    last = end.traceId;
  }
}
