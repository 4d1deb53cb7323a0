import type { BudgetSpan, OwnerKind, OwnerLimits, RateKind } from '../catalogue/limits.ts';
import type { NanoUsd } from '../money/money.ts';
import type { LeaseName } from './leases.ts';

/** The most that a call is expected to take of its limits. */
export interface Demand {
  /** The public id, for limits of single models. */
  readonly model: string;
  readonly chargeNanoUsd: NanoUsd;
  /** Input and output together. */
  readonly tokens: number;
  readonly images: number;
}

/** The amounts that a call took in the end: none where it is not billed. */
export type Taken = Omit<Demand, 'model'>;

/** One of the limits of an owner, by name. */
export interface LimitName {
  readonly owner: OwnerKind;
  readonly id: string;
  /** `balance`: of an account · a span: a budget · else a rate. */
  readonly kind: 'balance' | BudgetSpan | RateKind;
  /** Set where it is a limit of one model. */
  readonly model: string | null;
}

/** A limit as it stands now. Nano-USD for balances and budgets, else what the rate counts. */
export interface Standing extends LimitName {
  readonly amount: bigint;
  /** At most `amount`, and 0 where it is overdrawn. */
  readonly remaining: bigint;
  /** On the wall's clock: when all, or for a window some more, of it is there again; null where time changes nothing. */
  readonly resetsAtMs: number | null;
}

/** Why a call may not be made, or go on. */
export type HoldRefusal =
  /** `retryAfterMs`: by when the same call may be admitted; null where only the operator can change that. */
  | { readonly kind: 'exceeded'; readonly limit: Standing; readonly retryAfterMs: number | null }
  | { readonly kind: 'store-unavailable' };

/** A running call's part of all its limits. */
export interface Hold {
  /** The owners from whose leases its charge is taken, for its entry: 1 account, 2 group, 4 key, summed. */
  readonly leased: number;
  /**
   * Takes more, before it is needed: all of it or nothing. Calls back once, perhaps before it returns; never after `settle`.
   * The model is that of the hold.
   */
  extend(more: Taken, done: (refusal: HoldRefusal | null) => void): void;
  /** Gives back what was not used, once, whatever became of the call. Never throws. */
  settle(taken: Taken): void;
}

/** The end of asking for a hold. */
export type HoldResult =
  | { readonly ok: true; readonly value: Hold }
  | { readonly ok: false; readonly error: HoldRefusal };

/** Limits of money and rates, as calls take from them (ADR 40). */
export interface Holds {
  /**
   * Takes the demand from every limit of the owners, or from none. Calls back once: before it returns as long as what this process has
   * leased suffices, else when the store has answered. Never throws.
   * @returns leaves before that, so that `done` is not called and nothing is kept; null where it was called already.
   */
  take(
    owners: readonly OwnerLimits[],
    demand: Demand,
    done: (result: HoldResult) => void,
  ): (() => void) | null;
  /** The limits of owners that a call of this model counts to, as this process knows them: for headers of answers. Cheap. */
  known(owners: readonly OwnerLimits[], model: string): readonly Standing[];
  /** All limits of owners, as the store knows them: for reports. */
  standings(owners: readonly OwnerLimits[]): Promise<readonly Standing[]>;
  /** The part of this process's lease that no call has taken anything of. Asks nobody. */
  idle(lease: LeaseName): bigint;
}
