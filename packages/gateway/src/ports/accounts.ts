import type { NanoUsd } from '../money/money.ts';

/** A credit or debit of the operator. It never changes once it is made: a mistake is mended by another one. */
export interface Adjustment {
  /** The reference of its posting. */
  readonly id: string;
  readonly accountId: string;
  /** Above zero for a credit, below for a debit. */
  readonly amountNanoUsd: NanoUsd;
  readonly reason: string;
  /** Whoever makes it may name it, once for each account, so that it is not made twice. */
  readonly reference: string | null;
  readonly madeBy: string;
  readonly atMs: number;
}

/** The end of an adjustment: only `posted` has changed anything. */
export type AdjustmentResult =
  | { readonly kind: 'posted'; readonly adjustment: Adjustment; readonly balanceNanoUsd: NanoUsd }
  /** There is one of this reference and amount. */
  | { readonly kind: 'known'; readonly adjustment: Adjustment; readonly balanceNanoUsd: NanoUsd }
  /** There is one of this reference and another amount. */
  | { readonly kind: 'other-amount'; readonly adjustment: Adjustment }
  /** A debit would take a prepaid account below what it may owe, and nobody has said that this is meant. */
  | { readonly kind: 'below-limit'; readonly balanceNanoUsd: NanoUsd; readonly creditLimitNanoUsd: NanoUsd }
  /** The balance would be more than the ledger can count. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'unknown-account' };

/** The money of an account now, as far as the store knows of calls. */
export interface AccountMoney {
  readonly accountId: string;
  readonly balanceNanoUsd: NanoUsd;
  /** Processes have taken so much of it to spend it on calls. */
  readonly leasedNanoUsd: NanoUsd;
}

/** Balances as an operator changes and sees them. */
export interface AccountStore {
  /** Writes the adjustment with its posting in the transaction that moves the balance. */
  adjust(adjustment: Adjustment, isForced: boolean): Promise<AdjustmentResult>;
  /** The newest first, those before one where its id is given. */
  adjustments(accountId: string, limit: number, before?: string | null): Promise<readonly Adjustment[]>;
  /** Accounts that have had no money move are left out. */
  money(): Promise<readonly AccountMoney[]>;
  /** The charges to `account:ID`, `group:ID` or `key:ID` of calls that began in each period; for good where it is null. */
  spent(subject: string, periods: readonly (SpendingPeriod | null)[]): Promise<readonly NanoUsd[]>;
}

/** From the first moment to before the second, of quarters of an hour. */
export interface SpendingPeriod {
  readonly fromMs: number;
  readonly toMs: number;
}
