import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LeaseGrant, LimitAlert, MoneyTerms } from '../../ports/leases.ts';

/** How long it is remembered that something was told: longer than the longest window. */
const rememberedMs = 100 * 86_400_000;

/** Notices that money runs short; a row of the store decides which process tells of it, so that one does, once. */
export class LimitNews {
  readonly #tell: StatementSync;
  readonly #forget: StatementSync;

  constructor(database: DatabaseSync) {
    this.#tell = database.prepare(
      `INSERT OR IGNORE INTO limit_alerts (subject, kind, span, from_ms, at_ms) VALUES (?, ?, ?, ?, ?)`,
    );
    this.#forget = database.prepare(
      "DELETE FROM limit_alerts WHERE subject = ? AND span IN ('day', 'month') AND at_ms < ?",
    );
  }

  /** News of an owner's money in the transaction that found it so. */
  of(terms: MoneyTerms, { verdict, spent, balance }: LeaseGrant, nowMs: number): readonly LimitAlert[] {
    const { subject, creditLimit, budgets } = terms;
    const isRefused = verdict === 'refused';
    const alerts: LimitAlert[] = [];
    // A call is refused for the least of what is left.
    let least = balance === null ? null : balance + (creditLimit ?? 0n);
    for (const [at, { amount }] of budgets.entries()) {
      const left = amount - (spent[at] ?? 0n);
      if (least === null || left < least) least = left;
    }
    for (const [at, { span, amount, alertAt, fromMs }] of budgets.entries()) {
      const standing = spent[at] ?? 0n;
      const isExhausted = standing >= amount || (isRefused && amount - standing === least);
      const kinds = [
        ...(standing >= alertAt ? (['budget-threshold'] as const) : []),
        ...(isExhausted ? (['budget-exhausted'] as const) : []),
      ];
      for (const kind of kinds)
        if (this.#isNew(subject, kind, span, fromMs, nowMs))
          alerts.push({ kind, subject, span, amount, standing });
    }
    const left = balance === null ? null : balance + (creditLimit ?? 0n);
    const isEmpty = left !== null && (left <= 0n || (isRefused && left === least));
    if (isEmpty && left !== null && this.#isNew(subject, 'balance-exhausted', '', 0, nowMs))
      alerts.push({
        kind: 'balance-exhausted',
        subject,
        span: null,
        amount: creditLimit ?? 0n,
        standing: left,
      });
    return alerts;
  }

  #isNew(subject: string, kind: LimitAlert['kind'], span: string, fromMs: number, nowMs: number): boolean {
    const isNew = Number(this.#tell.run(subject, kind, span, fromMs, nowMs).changes) === 1;
    if (isNew) this.#forget.run(subject, nowMs - rememberedMs);
    return isNew;
  }
}
