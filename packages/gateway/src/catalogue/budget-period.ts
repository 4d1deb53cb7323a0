import type { BudgetSpan } from './limits.ts';

/** A stretch of time that a budget lasts for, on the wall's clock: from the first moment to before the second. */
export interface BudgetPeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The calendar day or month of a time zone that holds a moment; null of what lasts for good. A day may have 23 or 25 hours, and where the
 * clock is changed at midnight it begins at one o'clock.
 */
export function periodOf(span: BudgetSpan, timeZone: string, nowMs: number): BudgetPeriod | null {
  if (span === 'total') return null;
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = span === 'day' ? today : today.with({ day: 1 });
  const next = first.add(span === 'day' ? { days: 1 } : { months: 1 });
  const startMs = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds;
  return { fromMs: startMs(first), toMs: startMs(next) };
}
