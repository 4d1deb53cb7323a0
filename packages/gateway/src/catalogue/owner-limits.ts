import { zeroNanoUsd } from '../money/money.ts';
import type { DeclaredAccount, DeclaredGroup, DeclaredKey } from './entities.ts';
import {
  budgetSpans,
  type DeclaredBudgets,
  type DeclaredRates,
  type RateMember,
  rateMembers,
  usualAlertPpm,
} from './limit-fields.ts';
import { noLimits, type OwnerKind, type OwnerLimits, type RateLimit } from './limits.ts';

/** Finds the limits of callers by their key. */
export type LimitsFinder = (key: DeclaredKey) => readonly OwnerLimits[];

/** Puts together the limits of each account and group, once, so that all keys share them. */
export function limitsFinder(
  accounts: readonly DeclaredAccount[],
  groups: readonly DeclaredGroup[],
): LimitsFinder {
  const zones = new Map(accounts.map(({ id, timeZone }) => [id, timeZone]));
  const ofAccounts = new Map(accounts.map((account) => [account.id, accountLimits(account)]));
  const ofGroups = new Map(groups.map((group) => [group.id, groupLimits(group)]));
  return (key) => {
    const owners = [
      ofAccounts.get(key.accountId) ?? null,
      ofGroups.get(key.groupId) ?? null,
      keyLimits(key, zones.get(key.accountId) ?? 'UTC'),
    ].filter((owner) => owner !== null);
    return owners.length === 0 ? noLimits : owners;
  };
}

/** Null of an account that has none. */
function accountLimits(account: DeclaredAccount): OwnerLimits | null {
  const { prepaid, creditLimitNanoUsd, showBalance } = account;
  const credit = prepaid ? (creditLimitNanoUsd ?? zeroNanoUsd) : null;
  return limitsOf('account', account, { creditLimitNanoUsd: credit, isShown: showBalance });
}

/** Null of a group that has none. Its keys may be strangers to each other. */
function groupLimits(group: DeclaredGroup): OwnerLimits | null {
  return limitsOf('group', group, { creditLimitNanoUsd: null, isShown: false });
}

/** Null of a key that has none. The clocks are those of its account. */
function keyLimits(key: DeclaredKey, timeZone: string): OwnerLimits | null {
  return limitsOf('key', { ...key, timeZone }, { creditLimitNanoUsd: null, isShown: true });
}

interface Limited {
  readonly id: string;
  readonly timeZone: string;
  readonly budgets: DeclaredBudgets | null;
  readonly limits: DeclaredRates | null;
}

function limitsOf(
  owner: OwnerKind,
  { id, budgets, limits, timeZone }: Limited,
  others: Pick<OwnerLimits, 'creditLimitNanoUsd' | 'isShown'>,
): OwnerLimits | null {
  const spans = budgetSpans.flatMap((span) => {
    const amountNanoUsd = budgets?.[span] ?? null;
    return amountNanoUsd === null ? [] : [{ span, amountNanoUsd }];
  });
  const rates = ratesOf(limits ?? {});
  if (others.creditLimitNanoUsd === null && spans.length === 0 && rates.length === 0) return null;
  const alertAtPpm = budgets?.alertAtPpm ?? usualAlertPpm;
  return { owner, id, ...others, budgets: spans, timeZone, alertAtPpm, rates };
}

/** The rates that are declared, those of all calls first. */
export function ratesOf({ models = {}, ...own }: DeclaredRates): readonly RateLimit[] {
  const scopes = [[null, own] as const, ...Object.entries(models)];
  return scopes.flatMap(([model, rates]) =>
    Object.entries(rateMembers).flatMap(([member, kind]) => {
      // The names are those of the table.
      const amount = rates[member as RateMember];
      return amount === undefined ? [] : [{ kind, amount, model }];
    }),
  );
}
