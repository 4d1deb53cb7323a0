import { msUntil, readLimits, secondsAsMs } from './rate-limits.ts';

/** No upstream is believed when it asks for more than this. */
const retryAfterMsMax = 3_600_000;

const milliseconds = /^\d+(\.\d+)?$/;
/** The three spellings of a date in HTTP (RFC 9110 §5.6.7). `Date.parse` alone finds dates in nearly any text. */
const httpDate =
  /^([A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

/** What is read of an answer. Header names in lower case. */
interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/**
 * How long an upstream asks us to wait, from `retry-after-ms` and `retry-after` (seconds with fractions, or an HTTP date;
 * RFC 9110 §10.2.3), and for a 429 without them from when its rate limits reset. Null when it does not say or says nonsense.
 */
export function retryAfterMs({ status, headers }: Head, nowMs: number): number | null {
  const exact = headers.get('retry-after-ms') ?? '';
  if (milliseconds.test(exact)) return bounded(Number(exact));
  const after = headers.get('retry-after')?.trim() ?? '';
  const waitMs = secondsAsMs(after) ?? (httpDate.test(after) ? msUntil(inUtc(after), nowMs) : null);
  return waitMs === null && status === 429 ? resetMs(headers, nowMs) : bounded(waitMs);
}

/** When the last of the limits resets that may be used up: those of which something remains are not. */
function resetMs(headers: ReadonlyMap<string, string>, nowMs: number): number | null {
  const waits = readLimits(headers, nowMs)
    .filter(({ remaining }) => (remaining ?? 0) <= 0)
    .map(({ resetMs: waitMs }) => waitMs)
    .filter((waitMs) => waitMs !== null);
  return waits.length === 0 ? null : bounded(Math.max(...waits));
}

/** Dates in the manner of C's asctime do not say so, but are in UTC. */
function inUtc(date: string): string {
  return date.endsWith('GMT') ? date : `${date} GMT`;
}

function bounded(waitMs: number | null): number | null {
  return waitMs === null ? null : Math.ceil(Math.min(Math.max(waitMs, 0), retryAfterMsMax));
}
