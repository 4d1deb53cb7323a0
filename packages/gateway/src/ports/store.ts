import type { AccountStore } from './accounts.ts';
import type { AuditStore } from './audit.ts';
import type { CallClaims } from './call-claims.ts';
import type { CallReports } from './call-reports.ts';
import type { CallSearch } from './call-search.ts';
import type { ChannelHistory } from './channel-history.ts';
import type { ConfigurationStore } from './configuration-store.ts';
import type { CreateClaims } from './create-claims.ts';
import type { EventStore } from './events.ts';
import type { FactorStore } from './factors.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { LeaseStore } from './leases.ts';
import type { Ledger, LedgerTrouble } from './ledger.ts';
import type { EntryFilter, LedgerRecord } from './ledger-record.ts';
import type { OverviewReports } from './overview.ts';
import type { PeopleStore } from './people.ts';
import type { PersonLinkStore } from './person-links.ts';
import type { StatusStore } from './status.ts';
import type { UsageReports } from './usage-report.ts';

export type { EntryFilter, LedgerRecord } from './ledger-record.ts';

/** When a settlement resolves: `strict` once it is durable, `soon` at once, and durable within 10 ms or so. */
export type Durability = 'strict' | 'soon';

/** One broken invariant, in words for the operator. */
export interface Finding {
  /** Stable name of the rule, such as `balance-is-fold-of-postings`. */
  readonly rule: string;
  /** Names the offender: a trace id, a ledger account, a key. */
  readonly subject: string;
  readonly detail: string;
}

/** The result of checking the whole ledger. Sound exactly when `findings` is empty; at most 100 per rule. */
export interface Verification {
  readonly findings: readonly Finding[];
  readonly counts: {
    readonly calls: number;
    readonly open: number;
    readonly billed: number;
    readonly postings: number;
    readonly prices: number;
  };
  /** Null when all of the ledger was read; otherwise the moment up to which all of it was. */
  readonly asOfMs: number | null;
}

/** A place from which a journal cannot be read although it goes on behind it. */
export interface Damage {
  readonly file: string;
  /** Bytes from the beginning of the file. */
  readonly offset: number;
  readonly detail: string;
}

/** A start finds this of processes that died. */
export interface Recovery {
  /** Lines of their journals that the store did not have yet. */
  readonly lines: number;
  /** Calls that they left open, which are ended now. */
  readonly interrupted: number;
  /** Nothing behind it is in the store, so a start must not go on. */
  readonly damage: Damage | null;
}

/** Damage, and what was kept around it. */
export interface Salvaged extends Damage {
  /** Lines that could be read of what is damaged. */
  readonly linesKept: number;
  readonly bytesSkipped: number;
}

/** Something about the ledger that went wrong, or is right again: private, for the operator's log. */
export interface LedgerAlarm {
  readonly kind: 'conflict' | 'unavailable' | 'lost' | 'full' | 'mended' | 'bug';
  /** Null when the whole ledger is concerned. */
  readonly traceId: string | null;
  readonly detail: string;
}

/** The store cannot be asked now: locked, full, read-only, damaged, gone or closed. Whoever asked may ask again. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

export const unusable = 'STORE_UNUSABLE';

/** The store cannot be used as it is. The message is for the operator: what is wrong, and how to go on. */
export class StoreUnusable extends StoreUnavailable {
  readonly code = unusable;
}

/** A file that old calls have been moved to. */
export interface ArchiveStep {
  readonly file: string;
  readonly calls: number;
  readonly bytes: number;
}

/** Everything Headgate keeps. */
export interface Store {
  readonly ledger: Ledger;
  readonly reports: UsageReports;
  /** The calls of everybody, as far as they are in the store. */
  readonly calls: CallReports;
  readonly search: CallSearch;
  readonly overviews: OverviewReports;
  readonly configuration: ConfigurationStore;
  readonly accounts: AccountStore;
  readonly keys: KeyDirectory;
  readonly routerStates: RouterStateStore;
  readonly events: EventStore;
  readonly status: StatusStore;
  readonly channelHistory: ChannelHistory;
  readonly claims: CallClaims;
  readonly audit: AuditStore;
  /** Creates of the console that their askers have named. */
  readonly creates: CreateClaims;
  readonly factors: FactorStore;
  readonly personLinks: PersonLinkStore;
  readonly people: PeopleStore;
  /** Leases of this process, once it is prepared to write. */
  readonly leases: LeaseStore;
  /**
   * Takes over what processes that died have left in their journals, and ends their open calls, unbilled and visible. Those of
   * living ones stay. `onProgress` hears several times a second how many lines it was so far.
   */
  recover(onProgress: (lines: number) => void): Promise<Recovery>;
  /** Makes room for entries before the first call, so that a store that cannot be written is known by then. Rejects when it cannot. */
  prepare(): Promise<void>;
  /** Why the ledger is not writable. */
  readonly trouble: LedgerTrouble | null;
  /** Goes on past what is damaged in the journals of the dead, which are kept. Null while a gateway runs on them. */
  salvage(): Promise<readonly Salvaged[] | null>;
  /**
   * Waits until everything is in the store that is durable now, at most for some seconds. Null when it is; otherwise the moment up to
   * which everything is.
   */
  catchUp(): Promise<number | null>;
  /** Ordered by trace id, so oldest first. Read in pages: entries settled meanwhile may or may not be among them. */
  exportEntries(filter: EntryFilter): AsyncIterable<LedgerRecord>;
  /** One entry, for the operator: whose it is does not matter. */
  findEntry(traceId: string): Promise<LedgerRecord | null>;
  verify(): Promise<Verification>;
  /**
   * Moves the oldest calls that have ended and began before this moment into a file, some thousand at a time; null when there are no
   * more. They can be read as before, and postings and sums stay. Whenever it breaks off, nothing is lost.
   */
  archive(beforeMs: number): Promise<ArchiveStep | null>;
  /** Writes what is queued and lets go of everything. */
  close(): Promise<void>;
}

/** The knowledge of the router about one thing: a target, a credential of a channel, what that can take, or the calls of a model. */
export interface RouterState {
  readonly kind: 'target' | 'credential' | 'capacity' | 'model';
  /** Names it among those of its kind. A credential is in it as a keyed hash, never as it is. */
  readonly key: string;
  /** On the clock of the wall. */
  readonly savedAtMs: number;
  /** The router's own words (`route/saved.ts`), versioned there. */
  readonly text: string;
}

/** Keeps what the router has learned from one process to the next, so that a restart does not forget an outage. */
export interface RouterStateStore {
  load(): Promise<readonly RouterState[]>;
  /** Replaces those of the same name, and forgets all that were saved before `forgetBeforeMs`. */
  save(states: readonly RouterState[], forgetBeforeMs: number): Promise<void>;
}
