import { type ImageKind, noImageKind, totalInput, type Usage } from '@headgate/protocols';
import { divideHalfEven, type NanoUsd, nanoUsd, type PicoUsd } from './money.ts';

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
  /** Where the price of an image goes by its kind: the first that fits holds in the place of `perImage`. */
  readonly images?: readonly ImagePrice[];
}

/** The price of each image of a kind; null fits any size, or any quality, one that is not known included. */
export interface ImagePrice extends ImageKind {
  readonly price: PicoUsd;
}

/** One immutable, effective-dated version of a price. */
export interface PriceVersion {
  readonly id: string;
  readonly effectiveFromMs: number;
  /** Ascending by threshold; the first one starts at 0. */
  readonly tiers: readonly PriceTier[];
}

/** Pico-dollars × parts per million in one nano-dollar. */
const picoPpmPerNano = 1_000_000_000n;

/**
 * What a call costs: Σ units · price × multiplier, exact, and rounded once, half-even, to nano-dollars. `kind` is that of
 * the images made, if any were.
 */
export function priceUsage(
  usage: Usage,
  version: PriceVersion,
  multiplierPpm: bigint,
  kind: ImageKind = noImageKind,
): NanoUsd {
  const price = priceInPico(usage, tierFor(version.tiers, totalInput(usage)), kind);
  return nanoUsd(divideHalfEven(price * multiplierPpm, picoPpmPerNano));
}

function tierFor(tiers: readonly PriceTier[], inputTokens: number): PriceTier {
  for (let index = tiers.length - 1; index > 0; index--) {
    const tier = tiers[index];
    if (tier !== undefined && inputTokens > tier.aboveInputTokens) return tier;
  }
  const [first] = tiers;
  if (first === undefined) throw new Error('a price version has at least one tier');
  return first;
}

function priceInPico(usage: Usage, tier: PriceTier, kind: ImageKind): bigint {
  const { classes } = tier;
  return (
    classes.perCall +
    priceOf(usage.inputFresh, classes.input) +
    priceOf(usage.inputCacheRead, classes.cacheRead) +
    priceOf(usage.inputCacheWrite5m, classes.cacheWrite5m) +
    priceOf(usage.inputCacheWrite1h, classes.cacheWrite1h) +
    priceOf(usage.inputAudio, classes.audioInput) +
    priceOf(usage.inputImage, classes.imageInput) +
    priceOf(usage.output, classes.output) +
    priceOf(usage.outputAudio, classes.audioOutput) +
    priceOf(usage.outputImage, classes.imageOutput) +
    priceOf(usage.images, perImage(tier, kind))
  );
}

function perImage({ classes, images }: PriceTier, kind: ImageKind): PicoUsd {
  const fitting = images?.find(
    ({ size, quality }) =>
      (size === null || size === kind.size) && (quality === null || quality === kind.quality),
  );
  return fitting?.price ?? classes.perImage;
}

/** Most classes of most calls are zero, and a bigint product is not free. */
function priceOf(units: number, price: PicoUsd): bigint {
  return units === 0 ? 0n : BigInt(units) * price;
}
