import { type NanoUsd, nanoUsd, zeroNanoUsd } from './money.ts';

/**
 * The ledger accounts that money stands on: `account:ID` a customer's balance · `revenue` · `expense:channel:ID` and
 * `expense:failed-attempts:ID` what upstreams cost us · `payable:channel:ID` what we owe them · `credit` what the operator granted.
 */
export type LedgerAccount =
  | 'revenue'
  | 'credit'
  | `${'account' | 'expense:channel' | 'expense:failed-attempts' | 'payable:channel'}:${string}`;

/** One row of double entry: the amount leaves `debit` and arrives at `credit`. Always positive. */
export interface Posting {
  readonly debit: LedgerAccount;
  readonly credit: LedgerAccount;
  readonly amountNanoUsd: NanoUsd;
}

/** The part of an attempt that decides where its cost is booked. */
export interface BookedAttempt {
  readonly channelId: string;
  readonly result: string;
  /** Null where it is not known: nothing is booked. */
  readonly costNanoUsd: NanoUsd | null;
}

/** The part of a call that decides its postings. */
export interface BookedCall {
  readonly accountId: string;
  readonly status: string;
  readonly unbilledReason: string | null;
  readonly chargeNanoUsd: NanoUsd;
  readonly attempts: readonly BookedAttempt[];
}

/** The double entry of one call: the caller's charge, and what each attempt cost us. Nothing for amounts of zero. */
export function postingsFor(call: BookedCall): readonly Posting[] {
  const postings: Posting[] = [];
  if (call.chargeNanoUsd > 0n) {
    postings.push({
      debit: `account:${call.accountId}`,
      credit: 'revenue',
      amountNanoUsd: call.chargeNanoUsd,
    });
  }
  for (const attempt of call.attempts) {
    const { costNanoUsd } = attempt;
    if (costNanoUsd !== null && costNanoUsd > 0n) postings.push(costPosting(attempt, costNanoUsd));
  }
  return postings;
}

/** The double entry of what an operator gives an account, or takes from it where the amount is below zero. */
export function adjustmentPosting(accountId: string, amount: NanoUsd): Posting {
  const [account, size] = [`account:${accountId}` as const, nanoUsd(amount < 0n ? -amount : amount)];
  return amount < 0n
    ? { debit: account, credit: 'credit', amountNanoUsd: size }
    : { debit: 'credit', credit: account, amountNanoUsd: size };
}

function costPosting(attempt: BookedAttempt, amountNanoUsd: NanoUsd): Posting {
  const served = servedResults.includes(attempt.result);
  return {
    debit: `expense:${served ? 'channel' : 'failed-attempts'}:${attempt.channelId}`,
    credit: `payable:channel:${attempt.channelId}`,
    amountNanoUsd,
  };
}

/** Attempts that end so have been of use to the caller. */
const servedResults: readonly string[] = ['answered', 'caller_gone', 'limit_reached'];

/** A balance is everything credited less everything debited. A customer's falls with every charge. */
export function foldBalances(postings: Iterable<Posting>): ReadonlyMap<LedgerAccount, bigint> {
  const balances = new Map<LedgerAccount, bigint>();
  for (const { debit, credit, amountNanoUsd } of postings) {
    balances.set(debit, (balances.get(debit) ?? 0n) - amountNanoUsd);
    balances.set(credit, (balances.get(credit) ?? 0n) + amountNanoUsd);
  }
  return balances;
}

/** Calls that end so may be billed, and no others. */
export const billableStatuses: readonly string[] = ['complete', 'caller_gone', 'limit_reached'];

const int64Max = 2n ** 63n - 1n;

/** Which rule of the ledger a call breaks, or null. A broken one is a bug in the gateway and is never written. */
export function brokenRule(call: BookedCall): string | null {
  if (!isAmount(call.chargeNanoUsd)) return 'a charge is between 0 and the largest int64';
  if (!call.attempts.every(({ costNanoUsd }) => costNanoUsd === null || isAmount(costNanoUsd)))
    return 'a cost is between 0 and the largest int64';
  if (!billableStatuses.includes(call.status) && call.unbilledReason === null)
    return `a ${call.status} call is not billed, and says why`;
  if (call.unbilledReason !== null && call.chargeNanoUsd !== zeroNanoUsd)
    return 'a call not billed has no charge';
  return null;
}

function isAmount(amount: NanoUsd): boolean {
  return amount >= 0n && amount <= int64Max;
}
