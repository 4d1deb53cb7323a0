/** What is left of one after a time when half of it goes with every half-life; both in milliseconds. */
export function decayFactor(elapsedMs: number, halfLifeMs: number): number {
  return elapsedMs <= 0 ? 1 : 2 ** (-elapsedMs / halfLifeMs);
}
