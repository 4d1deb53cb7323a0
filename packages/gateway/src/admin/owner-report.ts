import { fail, type Result, succeed } from '@headgate/protocols';
import { type WrittenDiscount, writeDiscounts } from '../catalogue/discount.ts';
import { budgetSpans, type DeclaredBudgets, type DeclaredRates } from '../catalogue/limit-fields.ts';
import type { BudgetSpan, OwnerKind } from '../catalogue/limits.ts';
import { formatDecimal, formatNanoUsd, type NanoUsd, nanoUsd } from '../money/money.ts';
import type { AccountMoney, Adjustment, SpendingPeriod } from '../ports/accounts.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
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
export async function listAccounts({ store }: AccountReading): Promise<readonly AccountSummary[]> {
  await store.catchUp();
  const stored = await store.configuration.load();
  const money = moneyByAccount(await store.accounts.money());
  const active = stored.keys.filter(({ status }) => status === 'active');
  const keysOf = Map.groupBy(active, ({ accountId }) => accountId);
  return stored.accounts.map((account) => ({
    ...{ id: account.id, name: account.name, source: account.source },
    ...balanceOf(account, money),
    discount: discountOf(account),
    keys: keysOf.get(account.id)?.length ?? 0,
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
    account:
      account === undefined
        ? null
        : {
            money: balanceOf(account, moneyByAccount(await store.accounts.money())),
            showBalance: account.showBalance,
            discount: discountOf(account),
            adjustments: await adjustmentReports({ store, nowMs }, id.value, adjustmentsShown),
          },
    keys: usableFirst(keys).slice(0, keysShown).map(keySummary),
    keyCount: keys.length,
  });
}

/** Credits and debits of an account, also of one that nobody declares any more; the newest first. */
export async function accountPostings(
  tools: AccountReading,
  accountId: string,
  limit: number,
): Promise<Result<readonly AdjustmentReport[], string>> {
  const found = await adjustmentReports(tools, accountId, limit);
  if (found.length > 0) return succeed(found);
  const known = findOwner(await tools.store.configuration.load(), 'account', accountId);
  return known.ok ? succeed(found) : known;
}

async function adjustmentReports(
  { store }: AccountReading,
  accountId: string,
  limit: number,
): Promise<readonly AdjustmentReport[]> {
  return (await store.accounts.adjustments(accountId, limit)).map(adjustmentReport);
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

/** The calendar day or month that it is by the clocks of a zone; null of what lasts for good. */
function periodOf(span: BudgetSpan, timeZone: string, nowMs: number): SpendingPeriod | null {
  if (span === 'total') return null;
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = span === 'day' ? today : today.with({ day: 1 });
  const next = first.add(span === 'day' ? { days: 1 } : { months: 1 });
  const startMs = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds;
  return { fromMs: startMs(first), toMs: startMs(next) };
}
