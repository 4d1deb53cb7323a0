/** The truth about a channel at a moment. Nobody but the oracle sees it. */
export interface Condition {
  /** The factor of the list price. */
  multiplier: number;
  callsPerSecond: number;
  firstContentMs: number;
  /** The deviation of the logarithm of the time to first content. */
  sigma: number;
  tokensPerSecond: number;
  errorShare: number;
  breakShare: number;
  down: 'refused' | 'hung' | null;
  /** The wait that a 429 names; null for none. */
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

/** The mean cost of a call at the list price, and the worth of time and failures by it (routing.md, "Score"). */
const meanCostUsd = 2000 * listPrice.inputUsd + 400 * listPrice.outputUsd;
export const perMsUsd = (0.05 * meanCostUsd) / 1000;
export const perFailureUsd = 5 * meanCostUsd;
