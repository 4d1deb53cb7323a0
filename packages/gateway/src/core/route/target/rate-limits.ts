import { readWait } from '../outcome/wait-text.ts';
import type { Allowance, Headroom } from './capacity.ts';

/** `x-ratelimit-remaining-tokens`, `vendor-ratelimit-tokens-remaining` or plain `ratelimit-remaining`, and the same of resets. */
const limitName =
  /^(?:[a-z]+-)?ratelimit-(?:(?<first>remaining|reset)-(?<kind>requests|tokens)|(?<unit>requests|tokens|input-tokens|output-tokens)-(?<last>remaining|reset)|(?<plain>remaining|reset))$/;
const number = /^\d+(\.\d+)?$/;

/** One rate limit as an upstream's headers tell it; null for what they do not. */
interface RateLimit {
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
      ...(plain === 'reset' ? { resetMs: readWait(text, nowMs) } : { remaining: readCount(text) }),
    });
  }
  return [...limits.values()];
}

/** What is left of requests and of tokens, each until its own reset; null where the headers do not say. */
export function readHeadroom(headers: ReadonlyMap<string, string>, nowMs: number): Headroom | null {
  const limits = readLimits(headers, nowMs);
  const requests = least(limits, ['requests']);
  // Of what an answer may use nothing is known beforehand.
  const tokens = least(limits, ['tokens', 'input-tokens']);
  return requests === null && tokens === null ? null : { requests, tokens };
}

/** What has no reset is left out: it would never end. */
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
