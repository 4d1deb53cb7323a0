import type { Headroom } from './capacity.ts';

/** `x-ratelimit-remaining-tokens`, `vendor-ratelimit-tokens-remaining` or plain `ratelimit-remaining`, and the same of resets. */
const limitName =
  /^(?:[a-z]+-)?ratelimit-(?:(?<first>remaining|reset)-(?<kind>requests|tokens)|(?<unit>requests|tokens|input-tokens|output-tokens)-(?<last>remaining|reset)|(?<plain>remaining|reset))$/;
const number = /^\d+(\.\d+)?$/;
const internetDate = /^\d{4}-\d{2}-\d{2}T[\d:]{8}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** One rate limit as an upstream's headers tell it; null for what they do not. */
export interface RateLimit {
  readonly unit: string;
  readonly remaining: number | null;
  readonly resetMs: number | null;
}

/** The rate limits that an upstream's headers tell of, in whatever spelling. Header names in lower case. */
export function readLimits(headers: ReadonlyMap<string, string>, nowMs: number): readonly RateLimit[] {
  const limits = new Map<string, RateLimit>();
  for (const [name, text] of headers) {
    const { first, kind, unit = kind, last = first, plain = last } = limitName.exec(name)?.groups ?? {};
    if (plain === undefined) continue;
    const key = unit ?? 'requests';
    const limit = limits.get(key) ?? { unit: key, remaining: null, resetMs: null };
    limits.set(key, {
      ...limit,
      ...(plain === 'reset' ? { resetMs: readReset(text.trim(), nowMs) } : { remaining: readCount(text) }),
    });
  }
  return [...limits.values()];
}

/** What is left until the first reset; null where the headers do not say. */
export function readHeadroom(headers: ReadonlyMap<string, string>, nowMs: number): Headroom | null {
  const limits = readLimits(headers, nowMs).filter(({ remaining }) => remaining !== null);
  const least = (isOf: (unit: string) => boolean) =>
    limits.reduce<number | null>(
      (left, { unit, remaining }) =>
        isOf(unit) && remaining !== null ? Math.min(left ?? remaining, remaining) : left,
      null,
    );
  const resets = limits.flatMap(({ resetMs }) => resetMs ?? []);
  if (resets.length === 0) return null;
  return {
    requests: least((unit) => unit === 'requests'),
    // Of what an answer may use nothing is known beforehand.
    tokens: least((unit) => unit === 'tokens' || unit === 'input-tokens'),
    resetMs: Math.max(0, Math.min(...resets)),
  };
}

function readCount(text: string): number | null {
  return number.test(text.trim()) ? Number(text) : null;
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

/** Seconds with or without a fraction; null for anything else. */
export function secondsAsMs(text: string): number | null {
  return number.test(text) ? Number(text) * 1000 : null;
}

/** Milliseconds from now to a date; null when it is none. */
export function msUntil(date: string, nowMs: number): number | null {
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) ? null : atMs - nowMs;
}
