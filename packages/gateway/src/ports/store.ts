import type { ConfigurationStore } from './configuration-store.ts';
import type { CallEntry, CallStatus, Ledger } from './ledger.ts';
import type { RouterStateStore } from './router-state-store.ts';
import type { UsageReports } from './usage-report.ts';

/** When a settlement resolves: `strict` once it is durable, `soon` at once, and durable within 10 ms or so. */
export type Durability = 'strict' | 'soon';

/** Which entries to export; what is left out does not restrict. */
export interface EntryFilter {
  readonly accountId?: string;
  readonly keyId?: string;
  readonly channelId?: string;
  readonly model?: string;
  readonly status?: CallStatus;
  /** Start of the call; inclusive. */
  readonly fromMs?: number;
  /** Start of the call; exclusive. */
  readonly toMs?: number;
}

/** An entry as the operator sees it, those included that have not ended or were cut off by a crash. */
export interface LedgerRecord extends Omit<CallEntry, 'status' | 'finishedAtMs'> {
  readonly status: CallStatus;
  readonly finishedAtMs: number | null;
}

/** One broken invariant, in words for the operator. */
export interface Finding {
  /** Stable name of the rule, such as `balance-is-fold-of-postings`. */
  readonly rule: string;
  /** What breaks it: a trace id, a ledger account, a key. */
  readonly subject: string;
  readonly detail: string;
}

/** What checking the whole ledger found. Sound exactly when `findings` is empty; at most 100 per rule. */
export interface Verification {
  readonly findings: readonly Finding[];
  readonly counts: {
    readonly calls: number;
    readonly open: number;
    readonly billed: number;
    readonly postings: number;
    readonly prices: number;
  };
}

/** What went wrong with a settlement: private, for the operator's log. */
export interface LedgerAlarm {
  readonly kind: 'conflict' | 'unavailable';
  /** Null when the whole ledger is concerned. */
  readonly traceId: string | null;
  readonly detail: string;
}

/** Everything Headgate keeps. */
export interface Store {
  readonly ledger: Ledger;
  readonly reports: UsageReports;
  readonly configuration: ConfigurationStore;
  readonly routerStates: RouterStateStore;
  /** Ends the open calls of processes that died, unbilled and visible. Returns how many. Calls of living ones stay. */
  recoverInterrupted(): Promise<number>;
  /** Ordered by trace id, so oldest first. Read in pages: entries settled meanwhile may or may not be among them. */
  exportEntries(filter: EntryFilter): AsyncIterable<LedgerRecord>;
  /** One entry, for the operator: whose it is does not matter. */
  findEntry(traceId: string): Promise<LedgerRecord | null>;
  verify(): Promise<Verification>;
  /** Writes what is queued and lets go of everything. */
  close(): Promise<void>;
}
