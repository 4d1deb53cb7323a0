import type { NanoUsd } from '../money/money.ts';
import type { EntryFilter, LedgerRecord } from './ledger-record.ts';

/** Which calls an operator asks for; what is left out does not restrict. A beginning is always given, so that no question reads the whole ledger. */
export interface CallFilter extends EntryFilter {
  readonly fromMs: number;
  /** Only those that were billed, or only those that were not. */
  readonly billed?: boolean;
  /** Only those of these accounts: what whoever asks may see. */
  readonly accountIds?: readonly string[];
}

export const spendDimensions = ['key', 'group', 'account', 'model', 'channel', 'day', 'tag'] as const;
export type SpendDimension = (typeof spendDimensions)[number];

/** Sums over the calls that have one thing in common, and have ended. */
export interface Spend {
  /** Id of the key, group, account, model or channel, the day in UTC, or the tag; null for calls that no channel answered, or without a tag. */
  readonly name: string | null;
  readonly calls: number;
  readonly billedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly chargeNanoUsd: NanoUsd;
  /** The cost of all attempts, failed ones among them. */
  readonly costNanoUsd: NanoUsd;
  /** Attempts that used something of which nobody knows what it costs: they are in no sum. */
  readonly unknownCosts: number;
}

/** How far a follower of calls has come. */
export interface FollowMark {
  /** The last place of the store that was read. */
  readonly place: bigint;
  /** Calls that had begun there and not ended. */
  readonly open: readonly string[];
}

/** Reads the calls of everybody, for operators. */
export interface CallReports {
  /** Newest first, from before a trace id where one is given. */
  list(filter: CallFilter, limit: number, before: string | null): Promise<readonly LedgerRecord[]>;
  /** The calls since then whose trace ids end so, a few at the most. */
  endingIn(digits: string, fromMs: number): Promise<readonly LedgerRecord[]>;
  /** Dearest first. By channel, a call is charged where it was answered, and costs where it was tried. */
  spend(by: SpendDimension, filter: CallFilter): Promise<readonly Spend[]>;
  /** The calls that have ended since the mark, and the next mark; without one, the mark of now. */
  follow(
    filter: CallFilter,
    mark: FollowMark | null,
  ): Promise<{ readonly records: readonly LedgerRecord[]; readonly mark: FollowMark }>;
}
