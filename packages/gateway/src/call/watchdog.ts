import type { Clock } from '../ports/clock.ts';

/** Something that must happen before a moment passes. Belongs to one watchdog. */
export interface Guard {
  /** On the clock that never jumps; `Infinity` rests. May be moved at any time, at no cost. */
  expiresAt: number;
  /** Its place in the watchdog; -1 when it is not watched. */
  index: number;
  /** Called once, when the moment has passed. Never throws. */
  onExpire(): void;
}

export function guard(expiresAt: number, onExpire: () => void): Guard {
  return { expiresAt, onExpire, index: -1 };
}

/**
 * Watches every time-out of every call with one timer: a guard is a number that the call moves as bytes arrive, and a
 * sweep looks at all of them. A timer per attempt would cost more than the routing decision does.
 */
export class Watchdog {
  /** When every guard expires at the latest; set when the process is told to stop. */
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

  /** Harmless when the guard is not watched. */
  release(watched: Guard): void {
    const { index } = watched;
    if (index === -1) return;
    watched.index = -1;
    const last = this.#guards.pop();
    if (last === undefined || last === watched) return;
    this.#guards[index] = last;
    last.index = index;
  }

  /** Fires and forgets every guard whose moment has passed. Call it several times a second. */
  sweep(): void {
    const now = this.#clock.monotonic();
    const expired = this.#guards.filter((watched) => Math.min(watched.expiresAt, this.endsAt) <= now);
    for (const watched of expired) {
      if (watched.index === -1) continue;
      this.release(watched);
      watched.onExpire();
    }
  }
}
