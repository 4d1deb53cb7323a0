import { fail, type Result, succeed } from '@headgate/protocols';
import { formatDecimal, type PicoUsd, parseDecimal, picoUsd } from './money.ts';
import type { ImagePrice, PriceClasses, PriceTier } from './price.ts';

/** Prices per token are written in USD per million, prices per piece in USD: both exact decimals. */
const digitsOf = {
  input: 6,
  cacheRead: 6,
  cacheWrite5m: 6,
  cacheWrite1h: 6,
  output: 6,
  audioInput: 6,
  audioOutput: 6,
  imageInput: 6,
  imageOutput: 6,
  perImage: 12,
  perCall: 12,
} as const satisfies Record<keyof PriceClasses, number>;

export type PriceClass = keyof typeof digitsOf;

export const priceClassNames: readonly PriceClass[] = [
  'input',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
  'perImage',
  'perCall',
];

/** Prices as people write them, in exact decimal text. What is left out follows from what is there. */
export type PriceText = Readonly<Partial<Record<PriceClass, string>>>;

/** The price in USD of each image of a size and a quality; what is left out fits any. */
export interface ImagePriceText {
  readonly size?: string;
  readonly quality?: string;
  readonly price: string;
}

export interface PriceTierText {
  readonly aboveInputTokens: number;
  readonly prices: PriceText;
  /** The first that fits an image holds in the place of `perImage`. */
  readonly images?: readonly ImagePriceText[];
}

export interface PriceTextProblem {
  readonly tier: number;
  /** Its place in the tier: a class, or an image's price. */
  readonly path: readonly [PriceClass] | readonly ['images', number, 'price'];
  readonly reason: string;
}

type TierProblem = Omit<PriceTextProblem, 'tier'>;

/** Reads tiers of decimal text. A later tier takes what it leaves out from the first one. */
export function readPriceTiers(
  tiers: readonly PriceTierText[],
): Result<readonly PriceTier[], PriceTextProblem> {
  const base = tiers[0];
  const read: PriceTier[] = [];
  for (const [index, { aboveInputTokens, prices, images }] of tiers.entries()) {
    const classes = readClasses({ ...base?.prices, ...prices });
    if (!classes.ok) return fail({ tier: index, ...classes.error });
    const kinds = readImages(images ?? base?.images ?? []);
    if (!kinds.ok) return fail({ tier: index, ...kinds.error });
    const ofImages = kinds.value.length === 0 ? {} : { images: kinds.value };
    read.push({ aboveInputTokens, classes: classes.value, ...ofImages });
  }
  return succeed(read.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens));
}

/**
 * An entry with what it leaves out taken from a list price: a class that it names holds in all tiers of the list, unless it has tiers of
 * its own.
 */
export function fillPriceTiers(
  own: readonly PriceTierText[],
  list: readonly PriceTierText[],
): readonly PriceTierText[] {
  const [base] = own;
  const [listBase] = list;
  if (base === undefined || listBase === undefined) return own;
  const sizes = own.length > 1 ? own : list;
  return sizes.map(({ aboveInputTokens }) => {
    const listed = list.findLast((tier) => tier.aboveInputTokens <= aboveInputTokens);
    const tier = own.find((each) => each.aboveInputTokens === aboveInputTokens);
    const images = tier?.images ?? base.images ?? listed?.images ?? listBase.images;
    return {
      aboveInputTokens,
      prices: { ...listBase.prices, ...listed?.prices, ...base.prices, ...tier?.prices },
      ...(images === undefined ? {} : { images }),
    };
  });
}

function readImages(texts: readonly ImagePriceText[]): Result<readonly ImagePrice[], TierProblem> {
  const read: ImagePrice[] = [];
  for (const [index, { size, quality, price }] of texts.entries()) {
    const units = parseDecimal(price, digitsOf.perImage);
    if (!units.ok) return fail({ path: ['images', index, 'price'], reason: units.error });
    read.push({ size: size ?? null, quality: quality ?? null, price: picoUsd(units.value) });
  }
  return succeed(read);
}

function readClasses(prices: PriceText): Result<PriceClasses, TierProblem> {
  const given: Partial<Record<PriceClass, PicoUsd>> = {};
  for (const priceClass of priceClassNames) {
    const text = prices[priceClass];
    if (text === undefined) continue;
    const units = parseDecimal(text, digitsOf[priceClass]);
    if (!units.ok) return fail({ path: [priceClass], reason: units.error });
    given[priceClass] = picoUsd(units.value);
  }
  return succeed(completeClasses(given));
}

/** A class without a price of its own costs what its nearest plain class does; pieces and calls are free unless priced. */
function completeClasses(given: Partial<Record<PriceClass, PicoUsd>>): PriceClasses {
  const free = picoUsd(0n);
  const input = given.input ?? free;
  const output = given.output ?? free;
  const cacheWrite5m = given.cacheWrite5m ?? input;
  return {
    input,
    cacheRead: given.cacheRead ?? input,
    cacheWrite5m,
    cacheWrite1h: given.cacheWrite1h ?? cacheWrite5m,
    output,
    audioInput: given.audioInput ?? input,
    audioOutput: given.audioOutput ?? output,
    imageInput: given.imageInput ?? input,
    imageOutput: given.imageOutput ?? output,
    perImage: given.perImage ?? free,
    perCall: given.perCall ?? free,
  };
}

/** Tiers as decimal text that `readPriceTiers` reads back to the same tiers. */
export function writePriceTiers(tiers: readonly PriceTier[]): readonly PriceTierText[] {
  return tiers.map(({ aboveInputTokens, classes, images }) => ({
    aboveInputTokens,
    prices: Object.fromEntries(
      priceClassNames.map((name) => [name, formatDecimal(classes[name], digitsOf[name])]),
    ),
    ...(images === undefined ? {} : { images: images.map(writeImage) }),
  }));
}

function writeImage({ size, quality, price }: ImagePrice): ImagePriceText {
  return {
    ...(size === null ? {} : { size }),
    ...(quality === null ? {} : { quality }),
    price: formatDecimal(price, digitsOf.perImage),
  };
}
