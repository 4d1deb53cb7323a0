/** No pause between two readings is believed to be longer: all that decays is gone by then. */
const stepMsMax = 3_600_000;

/**
 * A time that only goes forward, made of readings of a clock that may jump: a step back is none, and a leap forward is a
 * step of an hour. So no block, circuit or probe hangs on a clock that was set.
 */
export class SteadyTime {
  #readMs: number | null = null;
  #timeMs = 0;

  read(clockMs: number): number {
    const stepMs = clockMs - (this.#readMs ?? clockMs);
    this.#readMs = clockMs;
    if (stepMs > 0) this.#timeMs += Math.min(stepMs, stepMsMax);
    return this.#timeMs;
  }
}

/** The rest of one after a time when half of it goes with every half-life; both in milliseconds. */
export function decayFactor(elapsedMs: number, halfLifeMs: number): number {
  return elapsedMs <= 0 ? 1 : 2 ** (-elapsedMs / halfLifeMs);
}
