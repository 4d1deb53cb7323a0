import type { AccountStore } from '../../ports/accounts.ts';
import type { AuditNote, AuditStore, NotedChanges } from '../../ports/audit.ts';
import type { ChannelHistory } from '../../ports/channel-history.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConfigurationStore } from '../../ports/configuration-store.ts';
import type { CreateClaims } from '../../ports/create-claims.ts';
import type { EventStore } from '../../ports/events.ts';
import type { FactorStore } from '../../ports/factors.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import type { PeopleStore } from '../../ports/people.ts';
import type { PersonLinkStore } from '../../ports/person-links.ts';
import type { StatusStore } from '../../ports/status.ts';
import type {
  Durability,
  EntryFilter,
  LedgerAlarm,
  LedgerRecord,
  Recovery,
  Store,
  Verification,
} from '../../ports/store.ts';
import { CatchUp } from '../catch-up.ts';
import { JournalLedger } from '../journal/ledger.ts';
import { StoreWatch } from '../store-watch.ts';
import { GatheredClaims } from './gathered-claims.ts';
import { LaneOnDemand } from './lane-on-demand.ts';
import type { StoreJobs } from './store-jobs.ts';
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
  /** Opens a lane to the file, of which a store has up to three; a worker thread if left out. */
  readonly openLane?: OpenLane | undefined;
}

type JobRunner = Pick<StoreLane, 'run'>;

interface StoreLanes {
  readonly reader: JobRunner;
  readonly writer: JobRunner;
  readonly reporter: JobRunner;
  readonly clock: Clock;
}

export type OpenLane = (file: string, onAlarm: (alarm: LedgerAlarm) => void) => StoreLane;

/** The size that segments of journals grow to. */
const segmentBytes = 16 * 1024 * 1024;

/**
 * The embedded store. One thread feeds it from the journals and writes what else there is to write. Another reads the configuration, and a
 * third, which starts with the first of them, makes reports: no key is revoked later for any of them (ADR 34). Rejects when the file cannot
 * be opened or is newer than this build.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, clock, onAlarm, openLane = (...lane) => new WorkerLane(...lane) } = options;
  const writer = openLane(file, onAlarm);
  const watch = new StoreWatch(options);
  const findLoss = async () => {
    await watch.look();
    return watch.lost;
  };
  const reader = new LaneOnDemand(() => openLane(file, onAlarm), findLoss);
  const reporter = new LaneOnDemand(() => openLane(file, onAlarm), findLoss);
  // A gateway reads its configuration at once, and the thread starts beside the writer's; few commands read any.
  if (options.openLane === undefined) reader.open();
  const close = async () => {
    await reporter.close();
    await reader.close();
    await writer.close();
  };
  // The writer comes first, because it brings the file to the newest schema.
  await firstOf(writer, close);
  const ledger = new JournalLedger({
    watch,
    onCommit: () => undefined,
    segmentBytes,
    ...options,
    begin: () => writer.run('begin', () => []),
    isFed: () => !writer.hasDied,
  });
  const lanes = { reader, writer, reporter, clock };
  const catchingUp = new CatchUp((targets) => writer.run('catchUpStep', () => [targets]));
  const catchUp = () => catchingUp.ask();
  return {
    ledger,
    catchUp,
    reports: {
      catchUp,
      ...jobsOf(reporter, 'totals', 'series', 'byModel', 'page', 'find', 'sisters', 'balance'),
    },
    ...changesOf(lanes),
    audit: auditOf(lanes),
    routerStates: {
      load: () => reader.run('loadRouterStates', () => []),
      save: (...inputs) => writer.run('saveRouterStates', () => inputs),
    },
    keys: keysOf(reader, reporter, clock),
    events: eventsOf(reader, writer),
    channelHistory: historyOf(reporter),
    claims: new GatheredClaims((take) => writer.run('changeClaims', take)),
    creates: createsOf(writer),
    leases: { exchange: (...inputs) => writer.run('exchangeLeases', () => inputs) },
    recover: (onProgress) => recover(writer, onProgress),
    prepare: () => ledger.prepare(),
    get trouble() {
      return ledger.trouble;
    },
    salvage: () => writer.run('salvage', () => []),
    ...searchOf(reporter),
    exportEntries: (filter) => exportEntries(reporter, filter, catchUp),
    findEntry: async (...inputs) => {
      await catchUp();
      return reader.run('record', () => inputs);
    },
    verify: async () => verify(await catchUp(), reporter, writer),
    archive: (beforeMs) => writer.run('archive', () => [beforeMs, clock.now()]),
    close: async () => {
      await ledger.close();
      await close();
    },
  };
}

/** The configuration: read beside the reports, and written by the feeder's thread. */
function configurationOf(reader: JobRunner, writer: JobRunner, clock: Clock): ConfigurationStore {
  return {
    load: () => reader.run('load', () => [clock.now()]),
    ...jobsOf(reader, 'revision', 'settings'),
    ...jobsOf(
      writer,
      'apply',
      'removals',
      'putChannel',
      'removeChannel',
      'insertWebhook',
      'putWebhook',
      'removeWebhook',
      'rotateSigningSecret',
      'setPrices',
      'insertKey',
      'insertAccount',
      'insertGroup',
      'removeGroup',
      'amendLimits',
      'setKeyStatus',
      'rotateKey',
      'addCredential',
      'rotateCredential',
      'removeCredential',
      'putSettings',
    ),
  };
}

/** Calls and sums of them, read beside all else. */
function searchOf(reporter: StoreLane): Pick<Store, 'calls' | 'search' | 'overviews'> {
  return {
    calls: {
      list: (...inputs) => reporter.run('calls', () => inputs),
      ...jobsOf(reporter, 'endingIn', 'spend', 'follow'),
    },
    search: {
      page: (...inputs) => reporter.run('searchPage', () => inputs),
      totals: (...inputs) => reporter.run('searchTotals', () => inputs),
    },
    overviews: jobsOf(reporter, 'overview'),
  };
}

/** Balances: read beside the configuration, and moved by the feeder's thread. */
function accountsOf(reader: JobRunner, writer: JobRunner): AccountStore {
  return {
    ...jobsOf(writer, 'adjust'),
    ...jobsOf(reader, 'adjustments'),
    money: () => reader.run('accountMoney', () => []),
    spent: (...inputs) => reader.run('spentIn', () => inputs),
  };
}

/** The keys: one is read beside the configuration, and many as a report. */
function keysOf(reader: StoreLane, reporter: StoreLane, clock: Clock): KeyDirectory {
  return {
    list: (...inputs) => reporter.run('listKeys', () => [clock.now(), ...inputs]),
    find: (...inputs) => reader.run('findListedKey', () => [clock.now(), ...inputs]),
    choices: (...inputs) => reader.run('keyChoices', () => inputs),
    days: (...inputs) => reader.run('spendByDay', () => inputs),
    counts: () => reader.run('keyCounts', () => []),
    budgets: (...inputs) => reader.run('budgetsSpent', () => [clock.now(), ...inputs]),
    rates: (...inputs) => reader.run('takenRates', () => [clock.now(), ...inputs]),
  };
}

/** The events: read beside the configuration, and written by the feeder's thread. */
function eventsOf(reader: JobRunner, writer: JobRunner): EventStore {
  return {
    record: (...inputs) => writer.run('recordEvents', () => inputs),
    claim: (...inputs) => writer.run('claimDeliveries', () => inputs),
    conclude: (...inputs) => writer.run('concludeDeliveries', () => inputs),
    list: (...inputs) => reader.run('listEvents', () => inputs),
    follow: (...inputs) => reader.run('followEvents', () => inputs),
    standings: () => reader.run('webhookStandings', () => []),
    acknowledge: (...inputs) => writer.run('acknowledgeEvents', () => inputs),
    unseen: (...inputs) => reader.run('countUnseen', () => inputs),
    deliveries: (...inputs) => reader.run('listDeliveries', () => inputs),
    redeliver: (...inputs) => writer.run('redeliver', () => inputs),
  };
}

/** Written by the feeder's thread. The page is made where its rows are: the main thread gets the bytes of its files. */
function statusOf(reporter: JobRunner, writer: JobRunner): StatusStore {
  return {
    add: (...inputs) => writer.run('addStatusCells', () => inputs),
    judge: (...inputs) => writer.run('judgeStatus', () => inputs),
    history: (...inputs) => reporter.run('statusHistory', () => inputs),
    files: (...inputs) => reporter.run('statusFiles', () => inputs),
    incidents: (...inputs) => reporter.run('statusIncidents', () => inputs),
    addWords: (...inputs) => writer.run('addStatusWords', () => inputs),
    ...jobsOf(reporter, 'maintenances'),
    ...jobsOf(writer, 'claimProbes', 'addMaintenance', 'cancelMaintenance'),
  };
}

/** The last day of channels, read beside all else. */
function historyOf(reporter: StoreLane): ChannelHistory {
  return {
    course: (...inputs) => reporter.run('channelCourse', () => inputs),
    courses: (...inputs) => reporter.run('channelCourses', () => inputs),
    failures: (...inputs) => reporter.run('channelFailures', () => inputs),
  };
}

/** The things that people sign in with: read beside the configuration, and taken by the feeder's thread. */
function factorsOf(reader: JobRunner, writer: JobRunner): FactorStore {
  return {
    ...jobsOf(reader, 'factorsOf', 'findTotp', 'findPasskey', 'findIdentity'),
    ...jobsOf(
      writer,
      'proposeTotp',
      'takeTotpStep',
      'removeTotp',
      'replaceRecoveryCodes',
      'takeRecoveryCode',
      'addPasskey',
      'notePasskeyUse',
      'renamePasskey',
      'removePasskey',
      'addIdentity',
      'noteIdentityUse',
      'removeIdentity',
    ),
  };
}

function personLinksOf(reader: JobRunner, writer: JobRunner): PersonLinkStore {
  return {
    ...jobsOf(reader, 'openInvitations', 'findInvitation', 'findPasswordLink', 'accountName'),
    ...jobsOf(
      writer,
      'addInvitation',
      'acceptAsNew',
      'acceptAsPerson',
      'withdrawInvitation',
      'addPasswordLink',
      'takePasswordLink',
    ),
  };
}

/** Who changed what: read beside the configuration, and written by the feeder's thread. */
function auditOf(lanes: StoreLanes): AuditStore {
  const { reader, writer } = lanes;
  return {
    write: (...inputs) => writer.run('writeAuditRow', () => inputs),
    noting: (notes) => changesOf({ ...lanes, writer: notingLane(writer, notes) }),
    list: (...inputs) => reader.run('listAuditRows', () => inputs),
  };
}

/** A lane on which each change writes these notes in its own transaction. */
function notingLane(writer: JobRunner, notes: readonly AuditNote[]): JobRunner {
  const run = (job: keyof StoreJobs, inputs: () => readonly unknown[]) =>
    writer.run('noted', () => [job as Exclude<keyof StoreJobs, 'noted'>, inputs(), notes]);
  // The change gives what the job of its name gives.
  return { run: run as JobRunner['run'] };
}

/** All whose changes are noted. */
function changesOf({ reader, writer, reporter, clock }: StoreLanes): NotedChanges {
  return {
    configuration: configurationOf(reader, writer, clock),
    accounts: accountsOf(reader, writer),
    people: peopleStoreOf(reader, writer),
    factors: factorsOf(reader, writer),
    personLinks: personLinksOf(reader, writer),
    status: statusOf(reporter, writer),
  };
}

function createsOf(writer: JobRunner): CreateClaims {
  return {
    claim: (...inputs) => writer.run('claimCreate', () => inputs),
    conclude: (...inputs) => writer.run('concludeCreate', () => inputs),
  };
}

/** People: read beside the configuration, and written by the feeder's thread. */
function peopleStoreOf(reader: JobRunner, writer: JobRunner): PeopleStore {
  return {
    count: () => reader.run('countPeople', () => []),
    insert: (...inputs) => writer.run('insertPerson', () => inputs),
    find: (...inputs) => reader.run('findPerson', () => inputs),
    findByLogin: (...inputs) => reader.run('findPersonByLogin', () => inputs),
    list: (...inputs) => reader.run('listPeople', () => inputs),
    amend: (...inputs) => writer.run('amendPerson', () => inputs),
    remove: (...inputs) => writer.run('removePerson', () => inputs),
    accountsOf: (...inputs) => reader.run('accountsOfPerson', () => inputs),
    ...jobsOf(reader, 'findSession', 'listSessions', 'hasOtherAdmin'),
    ...jobsOf(
      writer,
      'setMembership',
      'changeAccess',
      'openSession',
      'seeSession',
      'rotateSession',
      'endSession',
      'endSessions',
    ),
  };
}

/** Opens the lane's file, or closes everything. */
async function firstOf(lane: StoreLane, close: () => Promise<void>): Promise<void> {
  try {
    await lane.run('revision', () => []);
  } catch (error) {
    await close();
    throw error;
  }
}

async function verify(asOfMs: number | null, reporter: StoreLane, writer: StoreLane): Promise<Verification> {
  const { findings, counts } = await reporter.run('verify', () => []);
  const ofJournals = await writer.run('verifyJournals', () => []);
  return { findings: [...findings, ...ofJournals], counts, asOfMs };
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

type Jobs<Name extends keyof StoreJobs> = {
  readonly [Job in Name]: (
    ...inputs: Parameters<StoreJobs[Job]>
  ) => Promise<Awaited<ReturnType<StoreJobs[Job]>>>;
};

/** Jobs of a lane as methods of the same names. */
function jobsOf<Name extends keyof StoreJobs>(lane: JobRunner, ...names: readonly Name[]): Jobs<Name> {
  const run =
    (name: Name) =>
    (...inputs: Parameters<StoreJobs[Name]>) =>
      lane.run(name, () => inputs);
  // Object.fromEntries forgets which job is whose.
  return Object.fromEntries(names.map((name) => [name, run(name)])) as unknown as Jobs<Name>;
}

async function* exportEntries(
  reporter: StoreLane,
  filter: EntryFilter,
  catchUp: () => Promise<unknown>,
): AsyncGenerator<LedgerRecord> {
  await catchUp();
  let last = '';
  for (;;) {
    const after = last;
    const page = await reporter.run('records', () => [filter, after]);
    yield* page;
    const end = page.at(-1);
    if (end === undefined) return;
    last = end.traceId;
  }
}
