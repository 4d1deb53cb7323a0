import { fail, type Result, succeed } from '@headgate/protocols';
import { periodOf } from '../catalogue/budget-period.ts';
import { type WrittenDiscount, writeDiscounts } from '../catalogue/discount.ts';
import { budgetSpans, type DeclaredBudgets, type DeclaredRates } from '../catalogue/limit-fields.ts';
import type { BudgetSpan, OwnerKind } from '../catalogue/limits.ts';
import { formatDecimal, formatNanoUsd, type NanoUsd, nanoUsd } from '../money/money.ts';
import type { AccountMoney, Adjustment, SpendingPeriod } from '../ports/accounts.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import type { AccountScope } from '../ports/key-directory.ts';
import { type AccountReading, findOwner } from './accounts.ts';

/** A budget as it stands. Amounts are decimal strings of USD. */
export interface BudgetStanding {
  readonly span: BudgetSpan;
  readonly amount: string;
  readonly spent: string;
  /** 0 where more was spent. */
  readonly remaining: string;
  /** Null of one for good. */
  readonly resetsAt: string | null;
}

/** The balance of an account. Amounts are decimal strings of USD. */
export interface BalanceReport {
  readonly balance: string;
  /** Taken by processes, to be spent on calls that run or come. */
  readonly leased: string;
  readonly prepaid: boolean;
  /** Null of an account that may owe any amount. */
  readonly creditLimit: string | null;
  /** Balance and credit limit together: what is left to calls, those that it is held for among them. Null as before. */
  readonly available: string | null;
}

/** An account, as one of many. */
export interface AccountSummary extends BalanceReport {
  readonly id: string;
  readonly name: string;
  /** As a file would say it; null of none. */
  readonly discount: WrittenDiscount | null;
  /** Keys that may be used. */
  readonly keys: number;
  readonly source: string;
}

export interface KeySummary {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly status: string;
}

/** An adjustment as people and programs are shown it. */
export interface AdjustmentReport {
  readonly id: string;
  /** Below zero for a debit. */
  readonly amount: string;
  readonly reason: string;
  readonly reference: string | null;
  readonly madeBy: string;
  readonly at: string;
}

/** Everything about the money and the limits of an account, a group or a key. */
export interface OwnerReport {
  readonly kind: OwnerKind;
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly timezone: string;
  readonly budgets: readonly BudgetStanding[];
  readonly alertAt: string | null;
  /** The rates, as a file would say them; null where there are none. */
  readonly limits: DeclaredRates | null;
  /** The part that only accounts have. */
  readonly account: {
    readonly money: BalanceReport;
    readonly showBalance: boolean;
    readonly showKeys: boolean;
    /** Groups that its people may make keys in; null: those that it has keys in. */
    readonly groups: readonly string[] | null;
    /** As a file would say it; null of none. */
    readonly discount: WrittenDiscount | null;
    /** The newest first. */
    readonly adjustments: readonly AdjustmentReport[];
  } | null;
  /** Keys that pay from it or belong to it, those that may be used first, a hundred at the most; none of a key. */
  readonly keys: readonly KeySummary[];
  /** All of them. */
  readonly keyCount: number;
}

const adjustmentsShown = 10;
const keysShown = 100;

/** All accounts, with the balances that the store knows. */
export async function listAccounts(
  { store }: AccountReading,
  scope: AccountScope = 'all',
): Promise<readonly AccountSummary[]> {
  await store.catchUp();
  const { accounts } = await store.keys.choices(scope);
  const money = moneyByAccount(await store.accounts.money());
  const counts = await store.keys.counts();
  return accounts.map((account) => ({
    ...{ id: account.id, name: account.name, source: account.source },
    ...balanceOf(account, money),
    discount: discountOf(account),
    keys: counts.byAccount.get(account.id) ?? 0,
  }));
}

/** One owner by its id, and of a key by the beginning of it. */
export async function ownerReport(
  { store, nowMs }: AccountReading,
  kind: OwnerKind,
  given: string,
): Promise<Result<OwnerReport, string>> {
  const stored = await store.configuration.load();
  const id = findOwner(stored, kind, given);
  if (!id.ok) return id;
  const owner = limitedOwner(stored, kind, id.value);
  if (owner === null) return fail(`there is no ${kind} "${given}"`);
  await store.catchUp();
  const { budgets, limits, timezone } = owner;
  const keys = stored.keys.filter((key) => isOf(key, kind, id.value));
  const account = kind === 'account' ? stored.accounts.find((each) => each.id === id.value) : undefined;
  return succeed({
    ...{ kind, id: id.value, name: owner.name, source: owner.source, timezone },
    budgets: await budgetStandings({ store, nowMs }, `${kind}:${id.value}`, budgets, timezone),
    alertAt: budgets === null ? null : formatDecimal(BigInt(budgets.alertAtPpm), 6),
    limits,
    account: account === undefined ? null : await accountPart({ store, nowMs }, account),
    keys: usableFirst(keys).slice(0, keysShown).map(keySummary),
    keyCount: keys.length,
  });
}

/** An account without the list of its keys, which may be long: nothing but the account itself is read. */
export async function accountReport(
  { store, nowMs }: AccountReading,
  id: string,
): Promise<Result<OwnerReport, string>> {
  const { accounts } = await store.keys.choices([id]);
  const account = accounts.find((each) => each.id === id);
  if (account === undefined) return fail(`there is no account "${id}"`);
  await store.catchUp();
  const { name, source, timeZone: timezone, budgets, limits } = account;
  return succeed({
    ...{ kind: 'account', id, name, source, timezone, limits },
    budgets: await budgetStandings({ store, nowMs }, `account:${id}`, budgets, timezone),
    alertAt: budgets === null ? null : formatDecimal(BigInt(budgets.alertAtPpm), 6),
    account: await accountPart({ store, nowMs }, account),
    keys: [],
    keyCount: (await store.keys.counts()).byAccount.get(id) ?? 0,
  });
}

async function accountPart(
  { store, nowMs }: AccountReading,
  account: StoredConfiguration['accounts'][number],
): Promise<OwnerReport['account']> {
  const { id, showBalance, showKeys, groups } = account;
  return {
    money: balanceOf(account, moneyByAccount(await store.accounts.money())),
    ...{ showBalance, showKeys, groups, discount: discountOf(account) },
    adjustments: await adjustmentReports({ store, nowMs }, id, adjustmentsShown),
  };
}

const dayMs = 86_400_000;

/** The charges of an owner by day of UTC until today. */
export async function spendOfDays({ store, nowMs }: AccountReading, subject: string, days: number) {
  await store.catchUp();
  const endMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  const found = await store.keys.days(subject, endMs - days * dayMs);
  const charges = new Map(found.map(({ startMs, chargeNanoUsd }) => [startMs, chargeNanoUsd]));
  return Array.from({ length: days }, (_, at) => {
    const startMs = endMs - (days - at) * dayMs;
    const charge = formatNanoUsd(charges.get(startMs) ?? nanoUsd(0n));
    return { day: new Date(startMs).toISOString().slice(0, 10), charge };
  });
}

/** Credits and debits of an account, also of one that nobody declares any more; the newest first. */
export async function accountPostings(
  tools: AccountReading,
  accountId: string,
  limit: number,
  before: string | null = null,
): Promise<Result<readonly AdjustmentReport[], string>> {
  const found = await adjustmentReports(tools, accountId, limit, before);
  if (found.length > 0 || before !== null) return succeed(found);
  const known = findOwner(await tools.store.configuration.load(), 'account', accountId);
  return known.ok ? succeed(found) : known;
}

async function adjustmentReports(
  { store }: AccountReading,
  accountId: string,
  limit: number,
  before: string | null = null,
): Promise<readonly AdjustmentReport[]> {
  return (await store.accounts.adjustments(accountId, limit, before)).map(adjustmentReport);
}

export function adjustmentReport({ amountNanoUsd, atMs, ...rest }: Adjustment): AdjustmentReport {
  const { id, reason, reference, madeBy } = rest;
  return {
    ...{ id, amount: formatNanoUsd(amountNanoUsd), reason, reference, madeBy },
    at: new Date(atMs).toISOString(),
  };
}

interface LimitedOwner {
  readonly name: string;
  readonly source: string;
  readonly timezone: string;
  readonly budgets: DeclaredBudgets | null;
  readonly limits: DeclaredRates | null;
}

function limitedOwner(stored: StoredConfiguration, kind: OwnerKind, id: string): LimitedOwner | null {
  if (kind !== 'key') {
    const found = (kind === 'account' ? stored.accounts : stored.groups).find((each) => each.id === id);
    return found === undefined ? null : { ...found, timezone: found.timeZone };
  }
  const key = stored.keys.find((each) => each.id === id);
  if (key === undefined) return null;
  const payer = stored.accounts.find((account) => account.id === key.accountId);
  return { ...key, timezone: payer?.timeZone ?? 'UTC' };
}

function isOf({ accountId, groupId }: StoredKey, kind: OwnerKind, id: string): boolean {
  return kind === 'account' ? accountId === id : kind === 'group' && groupId === id;
}

function usableFirst(keys: readonly StoredKey[]): readonly StoredKey[] {
  const rank = ({ status }: StoredKey) => (status === 'active' ? 0 : 1);
  return keys.toSorted((one, other) => rank(one) - rank(other));
}

function keySummary({ id, name, hint, status }: StoredKey): KeySummary {
  return { id, name, hint, status };
}

function moneyByAccount(money: readonly AccountMoney[]): ReadonlyMap<string, AccountMoney> {
  return new Map(money.map((each) => [each.accountId, each]));
}

function balanceOf(
  { id, prepaid, creditLimitNanoUsd }: StoredConfiguration['accounts'][number],
  money: ReadonlyMap<string, AccountMoney>,
): BalanceReport {
  const { balanceNanoUsd, leasedNanoUsd } = money.get(id) ?? {
    balanceNanoUsd: nanoUsd(0n),
    leasedNanoUsd: nanoUsd(0n),
  };
  const credit = creditLimitNanoUsd ?? nanoUsd(0n);
  return {
    ...{ balance: formatNanoUsd(balanceNanoUsd), leased: formatNanoUsd(leasedNanoUsd), prepaid },
    creditLimit: prepaid ? formatNanoUsd(credit) : null,
    available: prepaid ? formatNanoUsd(nanoUsd(balanceNanoUsd + credit)) : null,
  };
}

function discountOf({ discount }: StoredConfiguration['accounts'][number]): WrittenDiscount | null {
  return discount === null ? null : writeDiscounts(discount);
}

async function budgetStandings(
  { store, nowMs }: AccountReading,
  subject: string,
  budgets: DeclaredBudgets | null,
  timeZone: string,
): Promise<readonly BudgetStanding[]> {
  const set = budgetSpans.flatMap(
    (span): { span: BudgetSpan; amount: NanoUsd; period: SpendingPeriod | null }[] => {
      const amount = budgets?.[span] ?? null;
      return amount === null ? [] : [{ span, amount, period: periodOf(span, timeZone, nowMs) }];
    },
  );
  const spent = await store.accounts.spent(
    subject,
    set.map(({ period }) => period),
  );
  return set.map(({ span, amount, period }, at) => {
    const used = spent[at] ?? nanoUsd(0n);
    return {
      ...{ span, amount: formatNanoUsd(amount), spent: formatNanoUsd(used) },
      remaining: formatNanoUsd(nanoUsd(used > amount ? 0n : amount - used)),
      resetsAt: period === null ? null : new Date(period.toMs).toISOString(),
    };
  });
}
