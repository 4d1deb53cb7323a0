import type { Clock, Guard, TimeOuts } from '../ports/clock.ts';

export function guard(expiresAt: number, onExpire: () => void): Guard {
  return { expiresAt, onExpire, index: -1 };
}

/**
 * Watches every time-out of every call with one timer: a guard is a number that the call moves as bytes arrive, and a
 * sweep looks at all of them. A timer per attempt would cost more than the routing decision does.
 */
export class Watchdog implements TimeOuts {
  endsAt = Number.POSITIVE_INFINITY;
  // Not a Set: the tables a busy Set outgrows link to each other, and carry finished calls into the old generation.
  readonly #guards: Guard[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(watched: Guard): void {
    watched.index = this.#guards.push(watched) - 1;
  }

  release(watched: Guard): void {
    const { index } = watched;
    if (index === -1) return;
    watched.index = -1;
    const last = this.#guards.pop();
    if (last === undefined || last === watched) return;
    this.#guards[index] = last;
    last.index = index;
  }

  /** `asOfMs`: a moment of the clock; now if left out. */
  sweep(asOfMs: number = this.#clock.monotonic()): void {
    const expired = this.#guards.filter((watched) => Math.min(watched.expiresAt, this.endsAt) <= asOfMs);
    for (const watched of expired) {
      if (watched.index === -1) continue;
      this.release(watched);
      watched.onExpire();
    }
  }
}
