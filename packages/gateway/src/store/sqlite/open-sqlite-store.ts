import type { Clock } from '../../ports/clock.ts';
import type { ConfigurationStore } from '../../ports/configuration-store.ts';
import type {
  Durability,
  EntryFilter,
  LedgerAlarm,
  LedgerRecord,
  Recovery,
  Store,
} from '../../ports/store.ts';
import type { UsageReports } from '../../ports/usage-report.ts';
import { JournalLedger } from '../journal/ledger.ts';
import { type StoreLane, WorkerLane } from './worker-lane.ts';

export interface SqliteStoreOptions {
  /** Path of the database file. Journals lie beside it, in a directory that exists. */
  readonly file: string;
  readonly durability: Durability;
  readonly clock: Clock;
  /** Hears of what the answers of `settle` cannot say; private, for the operator. */
  readonly onAlarm: (alarm: LedgerAlarm) => void;
  /** Hears of every commit of the ledger, for metrics. */
  readonly onCommit?: (entries: number, durationMs: number) => void;
  readonly segmentBytes?: number;
  /** Opens a lane to the file, of which a store has two; a worker thread if left out. */
  readonly openLane?: OpenLane | undefined;
}

export type OpenLane = (file: string, onAlarm: (alarm: LedgerAlarm) => void) => StoreLane;

/** The size that segments of journals grow to. */
const segmentBytes = 16 * 1024 * 1024;

/**
 * The embedded store. One thread feeds it from the journals and writes what else there is to write, another reads. Rejects when the
 * file cannot be opened or is newer than this build.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, clock, onAlarm, openLane = (...lane) => new WorkerLane(...lane) } = options;
  const writer = openLane(file, onAlarm);
  const reader = openLane(file, onAlarm);
  const close = async () => {
    await reader.close();
    await writer.close();
  };
  // The writer comes first, because it brings the file to the newest schema.
  await writer
    .run('revision', () => [])
    .catch(async (error: unknown) => {
      await close();
      throw error;
    });
  const ledger = new JournalLedger({
    onCommit: () => undefined,
    segmentBytes,
    ...options,
    begin: () => writer.run('begin', () => []),
    isFed: () => !writer.hasDied,
  });
  const catchUp = () => writer.run('catchUp', () => []);
  return {
    ledger,
    catchUp,
    reports: { catchUp, ...usageReports(reader) },
    configuration: configurationStore(writer, reader, clock),
    routerStates: {
      load: () => reader.run('loadRouterStates', () => []),
      save: (...inputs) => writer.run('saveRouterStates', () => inputs),
    },
    recover: (onProgress) => recover(writer, onProgress),
    salvage: () => writer.run('salvage', () => []),
    exportEntries: (filter) => exportEntries(reader, filter, catchUp),
    findEntry: async (...inputs) => {
      await catchUp();
      return reader.run('record', () => inputs);
    },
    verify: async () => {
      const asOfMs = await catchUp();
      const { findings, counts } = await reader.run('verify', () => []);
      const ofJournals = await writer.run('verifyJournals', () => []);
      return { findings: [...findings, ...ofJournals], counts, asOfMs };
    },
    close: async () => {
      await ledger.close();
      await close();
    },
  };
}

async function recover(writer: StoreLane, onProgress: (lines: number) => void): Promise<Recovery> {
  let [lines, interrupted] = [0, 0];
  for (;;) {
    const step = await writer.run('replay', () => []);
    lines += step.lines;
    interrupted += step.interrupted;
    if (step.isDone) return { lines, interrupted, damage: step.damage };
    onProgress(lines);
  }
}

function usageReports(reader: StoreLane): Omit<UsageReports, 'catchUp'> {
  return {
    totals: (...inputs) => reader.run('totals', () => inputs),
    series: (...inputs) => reader.run('series', () => inputs),
    byModel: (...inputs) => reader.run('byModel', () => inputs),
    page: (...inputs) => reader.run('page', () => inputs),
    find: (...inputs) => reader.run('find', () => inputs),
    balance: (...inputs) => reader.run('balance', () => inputs),
  };
}

function configurationStore(writer: StoreLane, reader: StoreLane, clock: Clock): ConfigurationStore {
  return {
    revision: () => reader.run('revision', () => []),
    load: () => reader.run('load', () => [clock.now()]),
    apply: (...inputs) => writer.run('apply', () => inputs),
    insertKey: (...inputs) => writer.run('insertKey', () => inputs),
    setKeyStatus: (...inputs) => writer.run('setKeyStatus', () => inputs),
    rotateKey: (...inputs) => writer.run('rotateKey', () => inputs),
  };
}

async function* exportEntries(
  reader: StoreLane,
  filter: EntryFilter,
  catchUp: () => Promise<unknown>,
): AsyncGenerator<LedgerRecord> {
  await catchUp();
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
