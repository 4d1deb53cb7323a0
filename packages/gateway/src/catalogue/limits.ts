import type { NanoUsd } from '../money/money.ts';

/** Whose limits they are. */
export type OwnerKind = 'account' | 'group' | 'key';

/** How long a budget lasts: calendar days and months in the owner's time zone, or for good. */
export type BudgetSpan = 'day' | 'month' | 'total';

export interface Budget {
  readonly span: BudgetSpan;
  readonly amountNanoUsd: NanoUsd;
}

/** A rate counts one of these. Windows slide; tokens are those of input and output together. */
export type RateKind =
  | 'requests-per-minute'
  | 'tokens-per-minute'
  | 'requests-per-day'
  | 'images-per-minute'
  | 'concurrent-calls';

export interface RateLimit {
  readonly kind: RateKind;
  readonly amount: number;
  /** Counts only calls of this model; null counts all. */
  readonly model: string | null;
}

/** The limits of one owner; it has at least one. The same object for all keys that share it. */
export interface OwnerLimits {
  readonly owner: OwnerKind;
  readonly id: string;
  /** How far the balance of an account may go below zero; null where it does not limit anything, as for groups and keys. */
  readonly creditLimitNanoUsd: NanoUsd | null;
  readonly budgets: readonly Budget[];
  /** IANA name; days and months of budgets begin by it. */
  readonly timeZone: string;
  /** An alert is raised when so much of a budget is spent, in parts per million of it. */
  readonly alertAtPpm: number;
  readonly rates: readonly RateLimit[];
  /** Each caller that shares them may be told their amounts; a key is told its own in any case. */
  readonly isShown: boolean;
}

/** The limits of a caller that has none; there is one such list. */
export const noLimits: readonly OwnerLimits[] = [];
