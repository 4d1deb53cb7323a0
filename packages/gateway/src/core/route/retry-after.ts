/** No upstream is believed when it asks for more than this. */
const retryAfterMsMax = 3_600_000;

/**
 * How long an upstream asks us to wait, from `retry-after-ms` and `retry-after` (seconds with fractions, or an HTTP date;
 * RFC 9110 §10.2.3). Null when it does not say or says nonsense.
 */
export function retryAfterMs(headers: ReadonlyMap<string, string>, nowMs: number): number | null {
  const milliseconds = headers.get('retry-after-ms');
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/.test(milliseconds)) return bounded(Number(milliseconds));
  const after = headers.get('retry-after')?.trim();
  if (after === undefined || after === '') return null;
  if (/^\d+(\.\d+)?$/.test(after)) return bounded(Number(after) * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? null : bounded(date - nowMs);
}

function bounded(waitMs: number): number {
  return Math.ceil(Math.min(Math.max(waitMs, 0), retryAfterMsMax));
}
