import type { PicoUsd } from './money.ts';

/** Prices per unit of each class of usage, in pico-dollars per token, piece or call. */
export interface PriceClasses {
  readonly input: PicoUsd;
  readonly cacheRead: PicoUsd;
  readonly cacheWrite5m: PicoUsd;
  readonly cacheWrite1h: PicoUsd;
  readonly output: PicoUsd;
  readonly audioInput: PicoUsd;
  readonly audioOutput: PicoUsd;
  readonly imageInput: PicoUsd;
  readonly imageOutput: PicoUsd;
  readonly perImage: PicoUsd;
  readonly perCall: PicoUsd;
}

/** The whole call is priced by the last tier whose threshold its total input exceeds. */
export interface PriceTier {
  /** Tokens of total input above which this tier holds; 0 for the first. */
  readonly aboveInputTokens: number;
  readonly classes: PriceClasses;
}

/** One immutable, effective-dated version of a price. */
export interface PriceVersion {
  readonly id: string;
  readonly effectiveFromMs: number;
  /** Ascending by threshold; the first one starts at 0. */
  readonly tiers: readonly PriceTier[];
}
