import { noTerms, totalInput, type Usage, type UsageTerms } from '@headgate/protocols';
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
  /** Absent: as `cacheRead`. */
  readonly cacheReadAudio?: PicoUsd;
  /** Per token of the output that was thought; absent: as `output`. */
  readonly reasoning?: PicoUsd;
}

/** The fees, each by the part of usage that counts it. */
export const feeOf = {
  citation: 'citation',
  webSearches: 'perWebSearch',
  fileSearches: 'perFileSearch',
  codeSessions: 'perCodeSession',
  groundings: 'perGrounding',
  pages: 'perPage',
} as const satisfies Partial<Record<keyof Usage, string>>;

export type FeePart = keyof typeof feeOf;
export type Fee = (typeof feeOf)[FeePart];

const feeParts = Object.keys(feeOf) as readonly FeePart[]; // The keys of the table are its parts.

/** A call is priced by the last row of its service tier whose threshold its input exceeds. */
export interface PriceTier {
  /** Tokens of input above which this row holds; 0 for the first of a service tier. */
  readonly aboveInputTokens: number;
  /** The service tier that it is for; absent for the standard one. */
  readonly service?: string;
  readonly classes: PriceClasses;
  /** A fee that is absent has no price, and nothing is known of it; one that is free is 0. */
  readonly fees?: Readonly<Partial<Record<Fee, PicoUsd>>>;
  /** Prices of images by kind: the first that fits holds in the place of `perImage`. */
  readonly images?: readonly ImagePrice[];
  /** Fees by how much is read of what a search finds, in the place of `perCall` and `perWebSearch`. */
  readonly searches?: readonly SearchPrice[];
  /** The factor on tokens where the model has to run in a region, by the region's name. */
  readonly regions?: Readonly<Record<string, Ppm>>;
}

/** A factor in parts per million. */
export type Ppm = bigint;

/** The price of each image of a kind; null fits any size, or any quality, one that is not known included. */
export interface ImagePrice {
  readonly size: string | null;
  readonly quality: string | null;
  readonly price: PicoUsd;
}

export interface SearchPrice {
  readonly context: string;
  readonly perCall?: PicoUsd;
  readonly perWebSearch?: PicoUsd;
}

/** One immutable, effective-dated version of a price. */
export interface PriceVersion {
  readonly id: string;
  readonly effectiveFromMs: number;
  /** The standard tier first; each service tier ascending by threshold, and its first row starts at 0. */
  readonly tiers: readonly PriceTier[];
}

/**
 * Usage at one price: a call has one such part, or one for each request that its upstream made for it, each with a context
 * tier of its own.
 */
export interface PricedPart {
  readonly price: PriceVersion;
  readonly usage: Usage;
}

const million = 1_000_000n;
/** Pico-dollars × parts per million in one nano-dollar. */
const picoPpmPerNano = 1_000_000_000n;

/**
 * The cost of a call: Σ units · price × multiplier, exact, and rounded once, half-even, to nano-dollars. Where there are
 * `parts`, they are priced one by one in the place of `usage`, of which the fees and what a call costs are left.
 */
export function priceUsage(
  usage: Usage,
  version: PriceVersion,
  multiplierPpm: bigint,
  terms: UsageTerms = noTerms,
  parts: readonly PricedPart[] | null = null,
): NanoUsd {
  const tier = tierFor(version.tiers, terms.service, terms.promptTokens ?? totalInput(usage));
  const hasFees = usage.images !== 0 || tier.fees !== undefined || tier.searches !== undefined;
  let price = hasFees ? feesInPico(usage, tier, terms) : tier.classes.perCall * million;
  if (parts === null) price += tokensInPico(usage, tier, terms);
  else {
    for (const part of parts)
      price += tokensInPico(
        part.usage,
        tierFor(part.price.tiers, terms.service, totalInput(part.usage)),
        terms,
      );
  }
  return nanoUsd(divideHalfEven(price * multiplierPpm, picoPpmPerNano * million));
}

/** The row of the service tier, or of the standard one where it has none. */
export function tierFor(tiers: readonly PriceTier[], service: string | null, inputTokens: number): PriceTier {
  let first: PriceTier | undefined;
  for (let index = tiers.length - 1; index >= 0; index--) {
    const tier = tiers[index];
    if (tier === undefined || (tier.service ?? null) !== service) continue;
    if (inputTokens > tier.aboveInputTokens) return tier;
    first = tier;
  }
  if (first !== undefined) return first;
  if (service === null) throw new Error('a price version has at least one tier');
  return tierFor(tiers, null, inputTokens);
}

/** Tokens in millionths of a pico-dollar. Most classes of most calls are zero, and a bigint product is not free. */
function tokensInPico(usage: Usage, { classes, regions }: PriceTier, { region }: UsageTerms): bigint {
  let price = 0n;
  if (usage.inputFresh !== 0) price += BigInt(usage.inputFresh) * classes.input;
  if (usage.inputCacheRead !== 0) price += BigInt(usage.inputCacheRead) * classes.cacheRead;
  if (usage.inputCacheWrite5m !== 0) price += BigInt(usage.inputCacheWrite5m) * classes.cacheWrite5m;
  if (usage.inputCacheWrite1h !== 0) price += BigInt(usage.inputCacheWrite1h) * classes.cacheWrite1h;
  if (usage.inputCacheReadAudio !== 0)
    price += BigInt(usage.inputCacheReadAudio) * (classes.cacheReadAudio ?? classes.cacheRead);
  if (usage.inputAudio !== 0) price += BigInt(usage.inputAudio) * classes.audioInput;
  if (usage.inputImage !== 0) price += BigInt(usage.inputImage) * classes.imageInput;
  if (usage.output !== 0)
    price +=
      classes.reasoning === undefined ? BigInt(usage.output) * classes.output : outputInPico(usage, classes);
  if (usage.outputAudio !== 0) price += BigInt(usage.outputAudio) * classes.audioOutput;
  if (usage.outputImage !== 0) price += BigInt(usage.outputImage) * classes.imageOutput;
  return price * (region === null ? million : (factorIn(regions, region) ?? million));
}

/** The factor of a region that the price names. Callers choose the word, and every object has members of its own kind. */
export function factorIn(regions: PriceTier['regions'], region: string): Ppm | undefined {
  return regions !== undefined && Object.hasOwn(regions, region) ? regions[region] : undefined;
}

function outputInPico({ output, outputReasoning }: Usage, classes: PriceClasses): bigint {
  const { output: price, reasoning } = classes;
  return BigInt(output - outputReasoning) * price + BigInt(outputReasoning) * (reasoning ?? price);
}

/** Whatever is not a token, and citations, in millionths of a pico-dollar: no region makes it dearer. */
function feesInPico(usage: Usage, tier: PriceTier, terms: UsageTerms): bigint {
  const { classes, fees, searches } = tier;
  const search = searches === undefined ? undefined : searchPrice(searches, terms.searchContext);
  let price: bigint = search?.perCall ?? classes.perCall;
  if (usage.images !== 0) price += BigInt(usage.images) * perImage(tier, terms);
  if (usage.webSearches !== 0)
    price += BigInt(usage.webSearches) * (search?.perWebSearch ?? fees?.perWebSearch ?? 0n);
  if (fees !== undefined) {
    for (const part of feeParts)
      if (usage[part] !== 0 && part !== 'webSearches')
        price += BigInt(usage[part]) * (fees[feeOf[part]] ?? 0n);
  }
  return price * million;
}

/** The first one stands in for a context that is not named, or not priced. */
function searchPrice(searches: readonly SearchPrice[], context: string | null): SearchPrice | undefined {
  return searches.find((search) => search.context === context) ?? searches[0];
}

function perImage({ classes, images }: PriceTier, terms: UsageTerms): PicoUsd {
  const fitting = images?.find(
    ({ size, quality }) =>
      (size === null || size === terms.size) && (quality === null || quality === terms.quality),
  );
  return fitting?.price ?? classes.perImage;
}

/** Something that a price says nothing about: a service tier, a region, or a part of usage with a fee. */
export type UnpricedTerm = 'service' | 'region' | FeePart;

/** The terms of a call without a price. They are billed as if they were the standard, or free, and there is an alert. */
export function unpricedTerms(
  usage: Usage,
  { tiers }: PriceVersion,
  { service, region }: UsageTerms = noTerms,
): readonly UnpricedTerm[] {
  const found: UnpricedTerm[] = [];
  if (service !== null && !tiers.some((tier) => tier.service === service)) found.push('service');
  const tier = tierFor(tiers, service, 0);
  if (region !== null && factorIn(tier.regions, region) === undefined) found.push('region');
  for (const part of feeParts) if (usage[part] !== 0 && !hasFee(tier, part)) found.push(part);
  return found;
}

/** Searches that ground an answer are paid for one by one, or all of an answer's at once. */
export function hasFee({ fees, searches }: PriceTier, part: FeePart): boolean {
  if (fees?.[feeOf[part]] !== undefined) return true;
  if (part === 'groundings') return fees?.perWebSearch !== undefined;
  if (part !== 'webSearches') return false;
  return (
    fees?.perGrounding !== undefined || searches?.some((search) => search.perWebSearch !== undefined) === true
  );
}
