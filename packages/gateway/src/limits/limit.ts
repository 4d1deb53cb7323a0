import type { Budget, OwnerLimits, RateKind } from '../catalogue/limits.ts';
import {
  type BudgetWindow,
  type LeaseName,
  type LeaseTerms,
  type LimitSubject,
  measureOf,
  rateWindowMs,
} from '../ports/leases.ts';
import { Windows } from './windows.ts';

/** The thing that a limit counts of a call. */
export type Counted = 'charge' | 'calls' | 'places' | 'tokens' | 'images';

const countedBy: Readonly<Record<RateKind, Counted>> = {
  'requests-per-minute': 'calls',
  'requests-per-day': 'calls',
  'tokens-per-minute': 'tokens',
  'images-per-minute': 'images',
  'concurrent-calls': 'places',
};

/** The amounts that a call holds, or took in the end. */
export interface Amounts {
  readonly charge: bigint;
  readonly calls: bigint;
  readonly places: bigint;
  readonly tokens: bigint;
  readonly images: bigint;
}

const perMillion = 1_000_000n;

/** One thing that an owner's calls take from: its money, limited in all ways at once, or a rate. Leases are of these. */
export interface Limit extends LeaseName {
  readonly of: OwnerLimits;
  /** Null for money. */
  readonly rate: RateKind | null;
  /** Set where it is a limit of one model. */
  readonly model: string | null;
  readonly counted: Counted;
  /** How long use counts; null for money, and for what is only in use or not. */
  readonly windowMs: number | null;
  /** The amount of a rate. */
  readonly amount: bigint;
  /** Tells whether the operator has changed it. */
  readonly fingerprint: string;
  readonly windows: Windows;
  /** The limits of a later catalogue have higher ones. */
  readonly number: number;
}

/** The limits of an owner, money first. */
export function limitsOf(owner: OwnerLimits, number: number): readonly Limit[] {
  const subject: LimitSubject = `${owner.owner}:${owner.id}`;
  const shared = { of: owner, subject, windows: new Windows(owner.timeZone), number };
  const rates = owner.rates.map(({ kind, amount, model }): Limit => {
    return {
      ...{ ...shared, measure: measureOf(kind, model), rate: kind, model, counted: countedBy[kind] },
      ...{ windowMs: rateWindowMs[kind], amount: BigInt(amount), fingerprint: String(amount) },
    };
  });
  if (owner.creditLimitNanoUsd === null && owner.budgets.length === 0) return rates;
  const money: Limit = {
    ...{
      ...shared,
      measure: 'money',
      rate: null,
      model: null,
      counted: 'charge',
      windowMs: null,
      amount: 0n,
    },
    fingerprint: moneyFingerprint(owner),
  };
  return [money, ...rates];
}

function moneyFingerprint({ creditLimitNanoUsd, budgets, timeZone, alertAtPpm }: OwnerLimits): string {
  const spans = budgets.map(({ span, amountNanoUsd }) => `${span} ${amountNanoUsd}`);
  return `${creditLimitNanoUsd} ${spans.join()} ${timeZone} ${alertAtPpm}`;
}

/** The limit as the store is asked about it now. */
export function termsOf(limit: Limit, nowMs: number): LeaseTerms {
  const { of, subject, measure, windowMs, amount } = limit;
  if (limit.rate !== null) return { kind: 'rate', subject, measure, windowMs, amount };
  const budgets = of.budgets.map((budget) => budgetNow(limit, budget, nowMs));
  return { kind: 'money', subject, measure, creditLimit: of.creditLimitNanoUsd, budgets };
}

function budgetNow({ of, windows }: Limit, { span, amountNanoUsd }: Budget, nowMs: number): BudgetWindow {
  const alertAt = (amountNanoUsd * BigInt(of.alertAtPpm) + perMillion - 1n) / perMillion;
  return { span, amount: amountNanoUsd, alertAt, ...windows.at(span, nowMs) };
}
