/**
 * A connection closes behind so many refusals in a row. It costs a new connection: nothing to a client that errs now and
 * then, and none that we know of repeats a refused request that often.
 */
const refusalsMax = 20;

/** They say that a request is sound and comes at a bad time: who is told so tries again, on the same connection. */
const soundStatuses: ReadonlySet<number> = new Set([402, 408, 429]);

/** How many refusals in a row a connection has carried behind an answer of this status, when there were so many before. */
export function refusalsAfter(refusals: number, status: number): number {
  if (status < 400) return 0;
  return status >= 500 || soundStatuses.has(status) ? refusals : refusals + 1;
}

/** True when a connection is not kept behind its last refusal. */
export function isWornOut(refusals: number): boolean {
  return refusals >= refusalsMax;
}
