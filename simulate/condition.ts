/** What is true of a channel at a moment. Nobody but the oracle sees it. */
export interface Condition {
  /** Of the list price. */
  multiplier: number;
  callsPerSecond: number;
  firstContentMs: number;
  /** Of the logarithm of the time to first content. */
  sigma: number;
  tokensPerSecond: number;
  errorShare: number;
  breakShare: number;
  down: 'refused' | 'hung' | null;
  /** What a 429 says; null for nothing. */
  retryAfterMs: number | null;
}

/** Changes what is true of a channel while something happens to it. */
export type Incident = (channel: number, seconds: number, condition: Condition) => void;

/** A way to provide: what is true of it when nothing happens. */
export type ChannelSketch = Pick<
  Condition,
  'multiplier' | 'callsPerSecond' | 'firstContentMs' | 'sigma' | 'tokensPerSecond' | 'errorShare'
>;

export function conditionOf(sketch: ChannelSketch): Condition {
  return { ...sketch, breakShare: 0.001, down: null, retryAfterMs: null };
}

export const listPrice = { inputUsd: 3e-6, outputUsd: 15e-6 } as const;

export interface Sizes {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Dollars. */
export function costOf({ inputTokens, outputTokens }: Sizes, { multiplier }: Condition): number {
  return multiplier * (inputTokens * listPrice.inputUsd + outputTokens * listPrice.outputUsd);
}

/** What a call costs on average at the list price, and what time and failures are worth by it (routing.md, "Score"). */
const meanCostUsd = 2000 * listPrice.inputUsd + 400 * listPrice.outputUsd;
export const perMsUsd = (0.05 * meanCostUsd) / 1000;
export const perFailureUsd = 5 * meanCostUsd;
