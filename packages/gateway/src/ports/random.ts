/** Randomness, injected so that tests and simulations can repeat it. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** 32 lowercase hex digits, a UUIDv7 without dashes. */
  traceId(): string;
}
