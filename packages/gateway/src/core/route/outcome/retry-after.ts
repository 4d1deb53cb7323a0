import { readLimits } from '../target/rate-limits.ts';
import { readMs, readWait } from './wait-text.ts';

/** What is read of an answer. Header names in lower case. */
interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
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
function resetMs(headers: ReadonlyMap<string, string>, nowMs: number): number | null {
  const waits = readLimits(headers, nowMs)
    .filter(({ remaining }) => (remaining ?? 0) <= 0)
    .map(({ resetMs: waitMs }) => waitMs)
    .filter((waitMs) => waitMs !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}
