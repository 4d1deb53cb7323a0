import type { Allowance, Headroom } from './capacity.ts';

/** The part of an answer that is read here. Header names in lower case. */
interface Head {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]> & { get(name: string): string | undefined };
}

/**
 * How long an upstream asks us to wait, from `retry-after-ms` and `retry-after` (RFC 9110 §10.2.3, and whatever else says
 * when), and for a 429 without them from when its rate limits reset. Null when it does not say or says nonsense.
 */
export function retryAfterMs({ status, headers }: Head, nowMs: number): number | null {
  const waitMs =
    readMs(headers.get('retry-after-ms') ?? '') ?? readWait(headers.get('retry-after') ?? '', nowMs);
  return waitMs === null && status === 429 ? resetMs(headers, nowMs) : waitMs;
}

/** When the last of the limits resets that may be used up: those of which something remains are not. */
function resetMs(headers: Head['headers'], nowMs: number): number | null {
  const waits = readLimits(headers, nowMs)
    .filter(({ remaining }) => (remaining ?? 0) <= 0)
    .map(({ resetMs: waitMs }) => waitMs)
    .filter((waitMs) => waitMs !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

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
function readMs(text: string): number | null {
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

/** `x-ratelimit-remaining-tokens`, `vendor-ratelimit-tokens-remaining` or plain `ratelimit-remaining`, and the same of resets. */
const limitName =
  /^(?:[a-z]+-)?ratelimit-(?:(?<first>remaining|reset)-(?<kind>requests|tokens)|(?<unit>requests|tokens|input-tokens|output-tokens)-(?<last>remaining|reset)|(?<plain>remaining|reset))$/;

/** One rate limit as an upstream's headers tell it; null for what they do not. */
interface RateLimit {
  readonly unit: string;
  readonly remaining: number | null;
  readonly resetMs: number | null;
}

/** The rate limits that an upstream's headers tell of, in whatever spelling. Header names in lower case. */
export function readLimits(
  headers: Iterable<readonly [string, string]>,
  nowMs: number,
): readonly RateLimit[] {
  const limits = new Map<string, RateLimit>();
  for (const [name, text] of headers) {
    const { first, kind, unit = kind, last = first, plain = last } = limitName.exec(name)?.groups ?? {};
    if (plain === undefined) continue;
    const key = unit ?? 'requests';
    const limit = limits.get(key) ?? { unit: key, remaining: null, resetMs: null };
    limits.set(key, {
      ...limit,
      ...(plain === 'reset' ? { resetMs: readWait(text, nowMs) } : { remaining: readCount(text) }),
    });
  }
  return [...limits.values()];
}

/** The rest of requests and of tokens, each until its own reset; null where the headers do not say. */
export function readHeadroom(headers: Iterable<readonly [string, string]>, nowMs: number): Headroom | null {
  const limits = readLimits(headers, nowMs);
  const requests = least(limits, ['requests']);
  // The tokens that an answer may use are not known beforehand.
  const tokens = least(limits, ['tokens', 'input-tokens']);
  return requests === null && tokens === null ? null : { requests, tokens };
}

/** A limit without a reset is left out: it would never end. */
function least(limits: readonly RateLimit[], units: readonly string[]): Allowance | null {
  let least: Allowance | null = null;
  for (const { unit, remaining, resetMs } of limits) {
    if (!units.includes(unit) || remaining === null || resetMs === null) continue;
    if (least === null || remaining < least.left) least = { left: remaining, resetMs };
  }
  return least;
}

function readCount(text: string): number | null {
  return number.test(text.trim()) ? Number(text) : null;
}
