import type { BudgetSpan, OwnerKind, RateKind } from '../catalogue/limits.ts';

/** Whose limit it is, as the ledger names accounts. */
export type LimitSubject = `${OwnerKind}:${string}`;

/** The thing that is limited: money, in all ways at once, or what a rate counts; that of one model behind the stroke. */
export type LimitMeasure = 'money' | RateKind | `${RateKind}/${string}`;

/** A lease has this name; each process has one of its own. */
export interface LeaseName {
  readonly subject: LimitSubject;
  readonly measure: LimitMeasure;
}

/** A budget in the window that is now, which its owner's time zone tells. */
export interface BudgetWindow {
  readonly span: BudgetSpan;
  readonly amount: bigint;
  /** An alert is raised at so much. */
  readonly alertAt: bigint;
  /** Calls count that began from then on. */
  readonly fromMs: number;
  /** Calls count that began before then. */
  readonly toMs: number;
}

/** All that limits the spending of an owner: the least of it decides. */
export interface MoneyTerms extends LeaseName {
  readonly kind: 'money';
  /** How far its balance may go below zero; null where it has none. */
  readonly creditLimit: bigint | null;
  readonly budgets: readonly BudgetWindow[];
}

export interface RateTerms extends LeaseName {
  readonly kind: 'rate';
  readonly amount: bigint;
  /** How long use counts; null for what is only in use or not. */
  readonly windowMs: number | null;
}

export type LeaseTerms = MoneyTerms | RateTerms;

/**
 * A process asks for more of a limit: at least `least`, or nothing, which somebody waits for where it is above zero; and as much more, up to
 * `wish` or what its share is. A wish of zero only looks.
 */
export interface LeaseAsk {
  readonly terms: LeaseTerms;
  readonly least: bigint;
  readonly wish: bigint;
}

/** A part of a lease that goes back; with the want that it answers, if it does. */
export interface LeaseReturn extends LeaseName {
  readonly amount: bigint;
  readonly want: number | null;
}

/** A part of the lease of a rate that was used in a slot of its window. */
export interface RateUse extends LeaseName {
  readonly slotStartMs: number;
  readonly amount: bigint;
}

/** All that a process has to say to the store, which is done at once or not at all. */
export interface LeaseExchange {
  /** Counts the exchanges of a process. One that is repeated, as its answer was lost, is not done twice, and grants the same. */
  readonly number: number;
  /** The wall's clock. */
  readonly nowMs: number;
  readonly returns: readonly LeaseReturn[];
  readonly uses: readonly RateUse[];
  readonly asks: readonly LeaseAsk[];
}

/** The answer to an ask, with how the limit stands after it. */
export interface LeaseGrant {
  readonly granted: bigint;
  /** `later`: others may give something back · `refused`: there is nobody who could. */
  readonly verdict: 'granted' | 'later' | 'refused';
  /** The lease of this process, as the store knows it: below zero where more was spent than leased. */
  readonly own: bigint;
  /** The part of the limit that is neither used nor leased. */
  readonly room: bigint;
  /** Spent of each budget, in their order. */
  readonly spent: readonly bigint[];
  /** Null where it does not limit anything. */
  readonly balance: bigint | null;
  /** Slots of the window of a rate: the start of each and what was used in it, in turn, the oldest first. */
  readonly slots: readonly number[];
}

/** A lease that another process wants something of. */
export interface LeaseWant extends LeaseName {
  readonly want: number;
}

/** News of a limit of money that nobody was told before, in any process. */
export interface LimitAlert {
  /** `balance-over`: there is money again after the balance was exhausted. */
  readonly kind: 'budget-threshold' | 'budget-exhausted' | 'balance-exhausted' | 'balance-over';
  readonly subject: LimitSubject;
  /** Null for a balance. */
  readonly window: Pick<BudgetWindow, 'span' | 'fromMs' | 'toMs'> | null;
  /** The whole budget; of a balance the credit limit. */
  readonly amount: bigint;
  /** Spent of a budget; of a balance what is left with the credit limit, which may be below zero. */
  readonly standing: bigint;
}

export interface LeaseAnswer {
  /** In the order of the asks. */
  readonly grants: readonly LeaseGrant[];
  readonly wants: readonly LeaseWant[];
  readonly alerts: readonly LimitAlert[];
}

/**
 * Leases limits to the processes that share a store (ADR 40). For each limit, used + Σ leases ≤ amount before and after each grant. Entries take
 * their charge from the lease of their process when they are fed; a process that ends or dies loses its leases when all of its journal is.
 */
export interface LeaseStore {
  /** Rejects with `StoreUnavailable`; then it may or may not have been done, and is to be repeated. */
  exchange(exchange: LeaseExchange): Promise<LeaseAnswer>;
}

/** The measure of a rate; of one of a single model, where it is given. */
export function measureOf(kind: RateKind, model: string | null): LimitMeasure {
  return model === null ? kind : `${kind}/${model}`;
}

/** The windows of rates are counted in so many slots. */
const slotsOfWindow = 60;
/** Slots that lie further ahead were made by a clock that has been put back since. They do not count. */
const slotsAhead = 2;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** How long use counts for a rate; null where only use under way does. */
export const rateWindowMs: Readonly<Record<RateKind, number | null>> = {
  'requests-per-minute': minuteMs,
  'tokens-per-minute': minuteMs,
  'images-per-minute': minuteMs,
  'requests-per-day': dayMs,
  'concurrent-calls': null,
};

/** The length of the slots of a window: a second of a minute, and of a day the quarter of an hour that all sums have, or so. */
export function rateSlotMs(windowMs: number): number {
  return windowMs === dayMs ? 15 * minuteMs : windowMs / slotsOfWindow;
}

/** Slots of a window that count now: those that begin after the first moment, up to the last. */
export function countedSlots(
  windowMs: number,
  nowMs: number,
): { readonly afterMs: number; readonly lastMs: number } {
  const slotMs = rateSlotMs(windowMs);
  return { afterMs: nowMs - windowMs - slotMs, lastMs: nowMs + slotsAhead * slotMs };
}
