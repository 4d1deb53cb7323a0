import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BudgetWindow, LeaseGrant, LimitAlert, MoneyTerms } from '../../ports/leases.ts';

/** How long it is remembered that something was told: longer than the longest window. */
const rememberedMs = 100 * 86_400_000;

/** Notices that money runs short; a row of the store decides which process tells of it, so that one does, once. */
export class LimitNews {
  readonly #tell: StatementSync;
  readonly #forget: StatementSync;
  readonly #isOver: StatementSync;

  constructor(database: DatabaseSync) {
    this.#tell = database.prepare(
      'INSERT OR IGNORE INTO limit_alerts (subject, kind, span, from_ms, at_ms, standing) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#forget = database.prepare(
      "DELETE FROM limit_alerts WHERE subject = ? AND span IN ('day', 'month') AND at_ms < ?",
    );
    // Charges only take from a balance, so one that has more than when it was told of has been given some.
    this.#isOver = database.prepare(
      "DELETE FROM limit_alerts WHERE subject = ? AND kind = 'balance-exhausted' AND standing < ?",
    );
  }

  /** News of an owner's money in the transaction that found it so. */
  of(terms: MoneyTerms, { verdict, spent, balance }: LeaseGrant, nowMs: number): readonly LimitAlert[] {
    const { creditLimit, budgets } = terms;
    const left = balance === null ? null : balance + (creditLimit ?? 0n);
    const lefts = budgets.map(({ amount }, at) => amount - (spent[at] ?? 0n));
    // A call is refused for the least of what is left.
    const least = [...lefts, ...(left === null ? [] : [left])].reduce((a, b) => (b < a ? b : a));
    const isBinding = (amount: bigint) => amount <= 0n || (verdict === 'refused' && amount === least);
    const ofBudgets = budgets.flatMap((budget, at) => {
      const spentOf = spent[at] ?? 0n;
      return [
        ...(spentOf >= budget.alertAt ? this.#budget('budget-threshold', terms, budget, spentOf, nowMs) : []),
        ...(isBinding(budget.amount - spentOf)
          ? this.#budget('budget-exhausted', terms, budget, spentOf, nowMs)
          : []),
      ];
    });
    return left === null ? ofBudgets : [...ofBudgets, ...this.#balance(terms, left, isBinding(left), nowMs)];
  }

  #budget(
    kind: LimitAlert['kind'],
    { subject }: MoneyTerms,
    { span, amount, fromMs, toMs }: BudgetWindow,
    standing: bigint,
    nowMs: number,
  ): readonly LimitAlert[] {
    if (!hasChanged(this.#tell, subject, kind, span, fromMs, nowMs, standing)) return [];
    this.#forget.run(subject, nowMs - rememberedMs);
    return [{ kind, subject, window: { span, fromMs, toMs }, amount, standing }];
  }

  #balance(
    { subject, creditLimit }: MoneyTerms,
    left: bigint,
    isExhausted: boolean,
    nowMs: number,
  ): readonly LimitAlert[] {
    const news = { subject, window: null, amount: creditLimit ?? 0n, standing: left };
    const isOver = left > 0n && hasChanged(this.#isOver, subject, left);
    const alerts: LimitAlert[] = isOver ? [{ kind: 'balance-over', ...news }] : [];
    if (isExhausted && hasChanged(this.#tell, subject, 'balance-exhausted', '', 0, nowMs, left))
      alerts.push({ kind: 'balance-exhausted', ...news });
    return alerts;
  }
}

function hasChanged(statement: StatementSync, ...values: (string | number | bigint)[]): boolean {
  return Number(statement.run(...values).changes) > 0;
}
