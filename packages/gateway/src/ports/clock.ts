/** Time, injected so that tests and simulations own it. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. */
  now(): number;
  /** A reading that never jumps, in milliseconds with fractions; only differences mean something. */
  monotonic(): number;
}

/** Something that must happen before a moment passes. Belongs to one watchdog. */
export interface Guard {
  /** On the clock that never jumps; `Infinity` rests. May be moved at any time, at no cost. */
  expiresAt: number;
  /** Its place in the watchdog; -1 when it is not watched. */
  index: number;
  /** Called once, when the moment has passed. Never throws. */
  onExpire(): void;
}

/** Watches guards, all with one timer. */
export interface TimeOuts {
  /** When every guard expires at the latest; set when the process is told to stop. */
  endsAt: number;
  watch(watched: Guard): void;
  /** Harmless when the guard is not watched. */
  release(watched: Guard): void;
  /** Fires and forgets every guard whose moment has passed. Call it several times a second. */
  sweep(): void;
}

/** Randomness, injected so that tests and simulations can repeat it. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** 32 lowercase hex digits, a UUIDv7 without dashes. */
  traceId(): string;
}
