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
  /** Prices of images by kind: the first that fits holds in the place of `perImage`. */
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

/** Usage at one price: a call has one such part, or one for each request that its upstream made for it. */
export interface PricedPart {
  readonly price: PriceVersion;
  readonly usage: Usage;
}

/** Pico-dollars × parts per million in one nano-dollar. */
const picoPpmPerNano = 1_000_000_000n;

/**
 * The cost of a call: Σ units · price × multiplier, exact, and rounded once, half-even, to nano-dollars. `kind` is that of
 * the images made, if any were.
 */
export function priceUsage(
  usage: Usage,
  version: PriceVersion,
  multiplierPpm: bigint,
  kind: ImageKind = noImageKind,
): NanoUsd {
  const tier = tierFor(version.tiers, totalInput(usage));
  return rounded(tier.classes.perCall + priceInPico(usage, tier, kind), multiplierPpm);
}

/**
 * The cost of a call that was several requests to its upstream: each at its own price and in its own tier of context, the sum
 * rounded once. The price per call is that of the first.
 */
export function priceParts(
  parts: readonly PricedPart[],
  multiplierPpm: bigint,
  kind: ImageKind = noImageKind,
): NanoUsd {
  let sum = 0n;
  for (const [at, { price, usage }] of parts.entries()) {
    const tier = tierFor(price.tiers, totalInput(usage));
    if (at === 0) sum += tier.classes.perCall;
    sum += priceInPico(usage, tier, kind);
  }
  return rounded(sum, multiplierPpm);
}

function rounded(pico: bigint, multiplierPpm: bigint): NanoUsd {
  return nanoUsd(divideHalfEven(pico * multiplierPpm, picoPpmPerNano));
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

/** Most classes of most calls are zero, and a bigint product is not free. */
function priceInPico(usage: Usage, tier: PriceTier, kind: ImageKind): bigint {
  const { classes } = tier;
  let price = 0n;
  if (usage.inputFresh !== 0) price += BigInt(usage.inputFresh) * classes.input;
  if (usage.inputCacheRead !== 0) price += BigInt(usage.inputCacheRead) * classes.cacheRead;
  if (usage.inputCacheWrite5m !== 0) price += BigInt(usage.inputCacheWrite5m) * classes.cacheWrite5m;
  if (usage.inputCacheWrite1h !== 0) price += BigInt(usage.inputCacheWrite1h) * classes.cacheWrite1h;
  if (usage.inputAudio !== 0) price += BigInt(usage.inputAudio) * classes.audioInput;
  if (usage.inputImage !== 0) price += BigInt(usage.inputImage) * classes.imageInput;
  if (usage.output !== 0) price += BigInt(usage.output) * classes.output;
  if (usage.outputAudio !== 0) price += BigInt(usage.outputAudio) * classes.audioOutput;
  if (usage.outputImage !== 0) price += BigInt(usage.outputImage) * classes.imageOutput;
  if (usage.images !== 0) price += BigInt(usage.images) * perImage(tier, kind);
  return price;
}

function perImage({ classes, images }: PriceTier, kind: ImageKind): PicoUsd {
  const fitting = images?.find(
    ({ size, quality }) =>
      (size === null || size === kind.size) && (quality === null || quality === kind.quality),
  );
  return fitting?.price ?? classes.perImage;
}
