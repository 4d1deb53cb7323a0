import { type BudgetPeriod, periodOf } from '../catalogue/budget-period.ts';
import type { BudgetSpan } from '../catalogue/limits.ts';

const forGood: BudgetPeriod = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/** Remembers the windows of a time zone, as they are asked for far more often than they change. */
export class Windows {
  readonly #timeZone: string;
  readonly #known = new Map<BudgetSpan, BudgetPeriod>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  at(span: BudgetSpan, nowMs: number): BudgetPeriod {
    const known = this.#known.get(span);
    if (known !== undefined && known.fromMs <= nowMs && nowMs < known.toMs) return known;
    const window = periodOf(span, this.#timeZone, nowMs) ?? forGood;
    this.#known.set(span, window);
    return window;
  }
}
