/** No upstream is believed when it asks for more than this. */
const waitMsMax = 3_600_000;
/** A number of seconds as long as this is a time since 1970, and a longer one that in milliseconds. */
const epochSecondsMin = 1e9;
const epochMsMin = 1e12;

const number = /^\d+(\.\d+)?$/;
const duration = /^(\d+(\.\d+)?(ms|[smhd]))+$/;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const internetDate = /^\d{4}-\d{2}-\d{2}T[\d:]{8}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
/** The three spellings of a date in HTTP (RFC 9110 §5.6.7). `Date.parse` alone finds dates in nearly any text. */
const httpDate =
  /^([A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

/**
 * A wait as upstreams spell it: seconds with or without a fraction, a duration such as `6m0s` or `12ms`, a date of RFC 3339
 * or HTTP, or seconds or milliseconds since 1970. Whole milliseconds from 0 to an hour; null of anything else.
 */
export function readWait(text: string, nowMs: number): number | null {
  const word = text.trim();
  if (number.test(word)) return boundedMs(msOfNumber(Number(word), nowMs));
  if (duration.test(word)) return boundedMs(msOfDuration(word));
  if (internetDate.test(word)) return msUntil(word, nowMs);
  return httpDate.test(word) ? msUntil(inUtc(word), nowMs) : null;
}

/** Whole milliseconds in words of one number; null of anything else. */
export function readMs(text: string): number | null {
  return number.test(text.trim()) ? boundedMs(Number(text)) : null;
}

function msOfNumber(value: number, nowMs: number): number {
  if (value >= epochMsMin) return value - nowMs;
  return value >= epochSecondsMin ? value * 1000 - nowMs : value * 1000;
}

function msOfDuration(text: string): number {
  const parts = text.matchAll(/([\d.]+)(ms|[smhd])/g);
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
}

function msUntil(date: string, nowMs: number): number | null {
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) ? null : boundedMs(atMs - nowMs);
}

/** Dates in the manner of C's asctime do not say so, but are in UTC. */
function inUtc(date: string): string {
  return date.endsWith('GMT') ? date : `${date} GMT`;
}

function boundedMs(waitMs: number): number {
  return Math.ceil(Math.min(Math.max(waitMs, 0), waitMsMax));
}
