import type { Usage } from '@headgate/protocols';
import type { NanoUsd } from '../core/money.ts';
import type { UsagePeriod } from '../core/usage-query.ts';
import type { CallStatus, UnbilledReason, UsageSource } from './ledger.ts';

export type { UsagePeriod };

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
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
}

export interface UsagePage {
  readonly entries: readonly UsageEntry[];
  /** Trace id to continue after, or null at the end. */
  readonly nextCursor: string | null;
}

/** Reads what a key has used. Every method sees that key's calls only. */
export interface UsageReports {
  totals(keyId: string, period: UsagePeriod | null): Promise<UsageTotals>;
  /** One row per slot that has calls. `bounds` are the ascending starts of the slots, and the end of the last one. */
  series(
    keyId: string,
    bounds: readonly number[],
  ): Promise<readonly { readonly fromMs: number; readonly totals: UsageTotals }[]>;
  byModel(
    keyId: string,
    period: UsagePeriod,
  ): Promise<readonly { readonly model: string; readonly totals: UsageTotals }[]>;
  /** Newest first. */
  page(keyId: string, period: UsagePeriod, limit: number, cursor: string | null): Promise<UsagePage>;
  find(keyId: string, traceId: string): Promise<UsageEntry | null>;
  /** Balance of the account, in nano-dollars, and its credit limit; null when the account has no limit. */
  balance(accountId: string): Promise<{ readonly balanceNanoUsd: NanoUsd; readonly limited: boolean }>;
}
