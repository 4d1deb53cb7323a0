import type { KeptEvent } from '../../ports/events.ts';

/** An event as the console tells it. */
export function eventView({ firstAtMs, lastAtMs, endedAtMs, acknowledgedAtMs, ...event }: KeptEvent) {
  const timeOf = (atMs: number) => new Date(atMs).toISOString();
  return {
    ...{ ...event, firstAt: timeOf(firstAtMs), lastAt: timeOf(lastAtMs) },
    endedAt: endedAtMs === null ? null : timeOf(endedAtMs),
    acknowledgedAt: acknowledgedAtMs === null ? null : timeOf(acknowledgedAtMs),
  };
}
