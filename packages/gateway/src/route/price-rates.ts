import type { PriceTier, PriceVersion } from '../money/price.ts';

/** A price as numbers, in pico-dollars per token or call: good enough to compare by, never to charge by. */
export interface PriceRates {
  readonly aboveInputTokens: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly perCall: number;
}

/** The rows of a price's standard service tier, ascending by threshold. */
export function ratesOf({ tiers }: PriceVersion): readonly PriceRates[] {
  const standard = tiers.filter(({ service }) => service === undefined);
  return standard.map(({ aboveInputTokens, classes }: PriceTier) => ({
    aboveInputTokens,
    input: Number(classes.input),
    cacheRead: Number(classes.cacheRead),
    cacheWrite: Number(classes.cacheWrite5m),
    output: Number(classes.output),
    perCall: Number(classes.perCall + classes.perImage),
  }));
}

/** The rates that hold for so many tokens of input; null of an unknown price. */
export function ratesFor(tiers: readonly PriceRates[], inputTokens: number): PriceRates | null {
  if (tiers.length === 1) return tiers[0] ?? null;
  return tiers.findLast((tier) => tier.aboveInputTokens < inputTokens || tier.aboveInputTokens === 0) ?? null;
}
