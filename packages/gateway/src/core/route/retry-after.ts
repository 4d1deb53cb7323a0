/** No upstream is believed when it asks for more than this. */
const retryAfterMsMax = 3_600_000;

const number = /^\d+(\.\d+)?$/;
/** The three spellings of a date in HTTP (RFC 9110 §5.6.7). `Date.parse` alone finds dates in nearly any text. */
const httpDate =
  /^([A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;
const internetDate = /^\d{4}-\d{2}-\d{2}T[\d:]{8}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

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
  const milliseconds = headers.get('retry-after-ms') ?? '';
  if (number.test(milliseconds)) return bounded(Number(milliseconds));
  const after = headers.get('retry-after')?.trim() ?? '';
  const waitMs = secondsAsMs(after) ?? (httpDate.test(after) ? msUntil(inUtc(after), nowMs) : null);
  return waitMs === null && status === 429 ? resetMs(headers, nowMs) : bounded(waitMs);
}

/** When the last of the limits resets that may be used up: those of which something remains are not. */
function resetMs(headers: ReadonlyMap<string, string>, nowMs: number): number | null {
  const waits = ['requests', 'tokens']
    .filter((limit) => Number(headers.get(`x-ratelimit-remaining-${limit}`) ?? 0) <= 0)
    .map((limit) => readReset(headers.get(`x-ratelimit-reset-${limit}`)?.trim() ?? '', nowMs))
    .filter((waitMs) => waitMs !== null);
  return waits.length === 0 ? null : bounded(Math.max(...waits));
}

/** Seconds, a duration such as `6m0s` or `12ms`, or a date of RFC 3339. */
function readReset(text: string, nowMs: number): number | null {
  if (internetDate.test(text)) return msUntil(text, nowMs);
  return secondsAsMs(text) ?? durationMs(text);
}

function durationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return null;
  const parts = text.matchAll(/([\d.]+)(ms|[smhd])/g);
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
}

function secondsAsMs(text: string): number | null {
  return number.test(text) ? Number(text) * 1000 : null;
}

/** Dates in the manner of C's asctime do not say so, but are in UTC. */
function inUtc(date: string): string {
  return date.endsWith('GMT') ? date : `${date} GMT`;
}

function msUntil(date: string, nowMs: number): number | null {
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) ? null : atMs - nowMs;
}

function bounded(waitMs: number | null): number | null {
  return waitMs === null ? null : Math.ceil(Math.min(Math.max(waitMs, 0), retryAfterMsMax));
}
