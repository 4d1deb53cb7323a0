import type { Clock } from '../ports/clock.ts';

/** Something that must happen before a moment passes. */
export interface Guard {
  /** On the clock that never jumps; `Infinity` rests. May be moved at any time, at no cost. */
  expiresAt: number;
  /** Called once, when the moment has passed. */
  readonly onExpire: () => void;
}

/**
 * Watches every time-out of every call with one timer: a guard is a number that the call moves as bytes arrive, and a
 * sweep looks at all of them. A timer per attempt would cost more than the routing decision does.
 */
export class Watchdog {
  /** When every guard expires at the latest; set when the process is told to stop. */
  endsAt = Number.POSITIVE_INFINITY;
  readonly #guards = new Set<Guard>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(guard: Guard): void {
    this.#guards.add(guard);
  }

  release(guard: Guard): void {
    this.#guards.delete(guard);
  }

  /** Fires and forgets every guard whose moment has passed. Call it several times a second. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const guard of this.#guards) {
      if (guard.expiresAt > now && this.endsAt > now) continue;
      this.#guards.delete(guard);
      guard.onExpire();
    }
  }
}
