import type { BudgetSpan } from '../catalogue/limits.ts';

/** A stretch of time that a budget lasts for, on the wall's clock. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

const forGood: Window = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/**
 * The calendar day or month of a time zone that holds a moment. A day may have 23 or 25 hours, and where the clock is changed at midnight it
 * begins at one o'clock.
 */
function windowOf(span: BudgetSpan, timeZone: string, nowMs: number): Window {
  if (span === 'total') return forGood;
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone);
  const date = now.toPlainDate();
  const first = span === 'day' ? date : date.with({ day: 1 });
  const startMs = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds;
  return { fromMs: startMs(first), toMs: startMs(first.add(span === 'day' ? { days: 1 } : { months: 1 })) };
}

/** Remembers the windows of a time zone, as they are asked for far more often than they change. */
export class Windows {
  readonly #timeZone: string;
  readonly #known = new Map<BudgetSpan, Window>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  at(span: BudgetSpan, nowMs: number): Window {
    const known = this.#known.get(span);
    if (known !== undefined && known.fromMs <= nowMs && nowMs < known.toMs) return known;
    const window = windowOf(span, this.#timeZone, nowMs);
    this.#known.set(span, window);
    return window;
  }
}
