import type { NanoUsd } from '../money/money.ts';
import type { CallFilter } from './call-reports.ts';
import type { UnbilledReason } from './ledger.ts';
import type { LedgerRecord } from './ledger-record.ts';

/** The calls that a page of the console shows; what is left out does not restrict. */
export interface CallQuery extends Omit<CallFilter, 'triedChannelId' | 'accountId'> {
  /** The accounts that the asker may see; all of them where it is left out. */
  readonly accountIds?: readonly string[];
  readonly groupId?: string;
  readonly surface?: string;
  readonly reason?: UnbilledReason;
  readonly errorCode?: string;
  /** A trace id or its beginning, in lower case. */
  readonly trace?: string;
}

export interface CallPage {
  readonly records: readonly LedgerRecord[];
  /** The next page goes on before this place; null at the end. */
  readonly next: string | null;
  /** A page whose filter lets few calls through may end before it is full: all since this moment have been looked at. */
  readonly searchedToMs: number | null;
}

/** Sums over the ended calls of a filter. */
export interface CallTotals {
  readonly calls: number;
  readonly billedCalls: number;
  readonly failedCalls: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly chargeNanoUsd: NanoUsd;
  readonly costNanoUsd: NanoUsd;
  /** Attempts whose cost nobody knows: they are in no sum. */
  readonly unknownCosts: number;
  /** False where so many calls would have to be read one by one that some were left out. */
  readonly isWhole: boolean;
}

/** Finds the calls of a filter quickly, however few of many it lets through (ADR 51). */
export interface CallSearch {
  /** Newest first, from before a place where one is given. */
  page(query: CallQuery, limit: number, before: string | null): Promise<CallPage>;
  totals(query: CallQuery): Promise<CallTotals>;
}
