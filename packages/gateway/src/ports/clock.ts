/** Time, injected so that tests and simulations own it. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. */
  now(): number;
  /** A reading that never jumps, in milliseconds with fractions; only differences mean something. */
  monotonic(): number;
}
