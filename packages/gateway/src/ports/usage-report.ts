import type { Usage } from '@headgate/protocols';
import type { NanoUsd } from '../money/money.ts';
import type { CallStatus, UnbilledReason, UsageSource } from './ledger.ts';

/** Sums over calls. */
export interface UsageTotals {
  readonly calls: number;
  readonly billedCalls: number;
  readonly usage: Usage;
  readonly chargeNanoUsd: NanoUsd;
}

/** A ledger entry as its owner may see it: no channel, no cost of ours. */
export interface UsageEntry {
  readonly traceId: string;
  readonly status: CallStatus;
  readonly unbilledReason: UnbilledReason | null;
  readonly surface: string;
  readonly modelRequested: string;
  readonly modelServed: string | null;
  readonly stream: boolean;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly chargeNanoUsd: NanoUsd;
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly finishReason: string | null;
  readonly losses: readonly string[];
  readonly ttftMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number;
  readonly clientRequestId: string | null;
  readonly tag: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
}

/** The calls of a key that a page shows; what is left out does not restrict. */
export interface UsageFilter {
  /** As the caller wrote it, or the name that those have together which the key cannot call. */
  readonly model?: string;
  readonly status?: CallStatus;
  /** A call that has not ended is neither. */
  readonly billed?: boolean;
}

/** A place among the calls of a key: those before it began earlier, or at the same moment with a lesser trace id. */
export interface UsagePlace {
  readonly atMs: number;
  readonly traceId: string;
}

export interface UsagePage {
  readonly entries: readonly UsageEntry[];
  /** The place to go on before; null at the end. */
  readonly next: UsagePlace | null;
  /** A page whose filter lets few calls through may end before it is full: all since this moment have been looked at. */
  readonly searchedToMs: number | null;
}

export interface ModelPage {
  /** In the order of their names. What was asked for models that the key cannot call is summed up under one name. */
  readonly models: readonly { readonly model: string; readonly totals: UsageTotals }[];
  /** Name to continue after, or null at the end. */
  readonly nextCursor: string | null;
}

/** A key of an account, as its other keys may know it. */
export interface SisterKey {
  readonly id: string;
  readonly name: string;
}

/** Reads what a key has used. Every method sees that key's calls only. */
export interface UsageReports {
  /** Waits until everything that is durable now can be seen, within bounds. Null, or the moment up to which everything can. */
  catchUp(): Promise<number | null>;
  totals(keyId: string, period: UsagePeriod | null): Promise<UsageTotals>;
  /** One row per slot that has calls. `bounds` are the ascending starts of the slots, and the end of the last one. */
  series(
    keyId: string,
    bounds: readonly number[],
  ): Promise<readonly { readonly fromMs: number; readonly totals: UsageTotals }[]>;
  byModel(keyId: string, period: UsagePeriod, limit: number, cursor: string | null): Promise<ModelPage>;
  /** Newest first, those before a place where one is given. */
  page(
    keyId: string,
    period: UsagePeriod,
    filter: UsageFilter,
    limit: number,
    before: UsagePlace | null,
  ): Promise<UsagePage>;
  find(keyId: string, traceId: string): Promise<UsageEntry | null>;
  /** The keys of the account with this name or id, a few at the most; null where it does not show its keys to each other. */
  sisters(accountId: string, label: string): Promise<readonly SisterKey[] | null>;
  /** Balance of the account, and whether its keys may see it. */
  balance(accountId: string): Promise<{ readonly balanceNanoUsd: NanoUsd; readonly isShown: boolean }>;
}

/** A span of time: from inclusive, to exclusive, milliseconds since the epoch. */
export interface UsagePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}
