import { fail, type Result, succeed, usualService } from '@headgate/protocols';
import { formatDecimal, type PicoUsd, parseDecimal, picoUsd } from './money.ts';
import type { Fee, ImagePrice, Ppm, PriceClasses, PriceTier, SearchPrice } from './price.ts';

/** Prices per token are written in USD per million, prices per piece in USD: both exact decimals. */
const digitsOf = {
  input: 6,
  cacheRead: 6,
  cacheReadAudio: 6,
  cacheWrite5m: 6,
  cacheWrite1h: 6,
  output: 6,
  reasoning: 6,
  audioInput: 6,
  audioOutput: 6,
  imageInput: 6,
  imageOutput: 6,
  citation: 6,
  perImage: 12,
  perCall: 12,
  perWebSearch: 12,
  perFileSearch: 12,
  perCodeSession: 12,
  perGrounding: 12,
  perPage: 12,
} as const satisfies Record<keyof PriceClasses | Fee, number>;

export type PriceClass = keyof typeof digitsOf;

/** A price of a piece, and not of a token. */
export function isPiece(name: PriceClass): boolean {
  return digitsOf[name] === 12;
}

export const priceClassNames = Object.keys(digitsOf) as readonly PriceClass[]; // The keys of the table are the classes.

const outputClasses: ReadonlySet<PriceClass> = new Set(['output', 'reasoning', 'audioOutput', 'imageOutput']);

/** These are absent where nothing is known of them; a price of a token always follows from a plainer one. */
const feeNames = [
  'citation',
  'perWebSearch',
  'perFileSearch',
  'perCodeSession',
  'perGrounding',
  'perPage',
] as const satisfies readonly Fee[];

const tokenClasses = priceClassNames.filter(
  (name) => !isPiece(name) && !feeNames.some((fee) => fee === name),
);

/** A service tier takes the prices of pieces from the standard one. Those of tokens are its own. */
const pieceNames = ['perImage', 'perCall', ...feeNames] as const satisfies readonly PriceClass[];

/** Prices as people write them, in exact decimal text. What is left out follows from what is there. */
export type PriceText = Readonly<Partial<Record<PriceClass, string>>>;

/** The price in USD of each image of a size and a quality; what is left out fits any. */
export interface ImagePriceText {
  readonly size?: string;
  readonly quality?: string;
  readonly price: string;
}

/** Fees in USD by the context of searches. The first one holds where none is named. */
export interface SearchPriceText {
  readonly context: string;
  readonly perCall?: string;
  readonly perWebSearch?: string;
}

export interface PriceTierText {
  readonly aboveInputTokens: number;
  /** Absent for the standard service tier. */
  readonly service?: string;
  readonly prices: PriceText;
  /** The first that fits an image holds in the place of `perImage`. */
  readonly images?: readonly ImagePriceText[];
  readonly searches?: readonly SearchPriceText[];
  /** The factor on tokens by region: `1.1` is a tenth more than elsewhere. */
  readonly regions?: Readonly<Record<string, string>>;
}

export interface PriceTextProblem {
  readonly tier: number;
  /** Its place in the tier: a class, or a price in one of the lists. */
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

type TierProblem = Omit<PriceTextProblem, 'tier'>;

/**
 * Reads tiers of decimal text. A later tier takes what it leaves out from the first one of its service tier; a service
 * tier has prices of tokens of its own, and takes all else from the standard one.
 */
export function readPriceTiers(
  tiers: readonly PriceTierText[],
): Result<readonly PriceTier[], PriceTextProblem> {
  const read: PriceTier[] = [];
  for (const [index, text] of tiers.entries()) {
    const tier = readTier(text, tiers);
    if (!tier.ok) return fail({ tier: index, ...tier.error });
    read.push(tier.value);
  }
  return succeed(read.sort(byServiceAndThreshold));
}

function byServiceAndThreshold(a: PriceTier, b: PriceTier): number {
  const [first = '', second = ''] = [a.service, b.service];
  if (first !== second) return first < second ? -1 : 1;
  return a.aboveInputTokens - b.aboveInputTokens;
}

function readTier(text: PriceTierText, tiers: readonly PriceTierText[]): Result<PriceTier, TierProblem> {
  const { aboveInputTokens, service } = text;
  const base = tiers[0];
  const own = tiers.find((tier) => tier.service === service);
  if (service === usualService)
    return fail({ path: ['service'], reason: `"${usualService}" is what the prices beside it are for` });
  const pieces = service === undefined ? {} : pick(base?.prices ?? {}, pieceNames);
  const prices = { ...pieces, ...own?.prices, ...text.prices };
  const forgotten = service === undefined ? undefined : forgottenIn(prices, base?.prices ?? {});
  if (forgotten !== undefined)
    return fail({ path: [forgotten], reason: 'a service tier needs prices of its own for input and output' });
  const units = readUnits(prices);
  if (!units.ok) return units;
  const images = readImages(text.images ?? own?.images ?? base?.images ?? []);
  if (!images.ok) return images;
  const searches = readSearches(text.searches ?? own?.searches ?? base?.searches ?? []);
  if (!searches.ok) return searches;
  const regions = readRegions(text.regions ?? own?.regions ?? base?.regions ?? {});
  if (!regions.ok) return regions;
  const fees = pick(units.value, feeNames);
  return succeed({
    aboveInputTokens,
    ...(service === undefined ? {} : { service }),
    classes: completeClasses(units.value),
    ...(Object.keys(fees).length === 0 ? {} : { fees }),
    ...(images.value.length === 0 ? {} : { images: images.value }),
    ...(searches.value.length === 0 ? {} : { searches: searches.value }),
    ...(Object.keys(regions.value).length === 0 ? {} : { regions: regions.value }),
  });
}

/** A class that costs something in the standard tier, and in a service tier would be free, because no price there is for it. */
function forgottenIn(prices: PriceText, standard: PriceText): PriceClass | undefined {
  return tokenClasses.find(
    (name) =>
      /[1-9]/.test(standard[name] ?? '') && prices[name] === undefined && prices[plainOf(name)] === undefined,
  );
}

/** The class that another one's price follows from. */
function plainOf(name: PriceClass): 'input' | 'output' {
  return outputClasses.has(name) ? 'output' : 'input';
}

/** The members of these names that are there. */
function pick<Name extends string, Value>(
  from: Readonly<Partial<Record<Name, Value>>>,
  names: readonly Name[],
): Partial<Record<Name, Value>> {
  const found: Partial<Record<Name, Value>> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/**
 * An entry with what it leaves out taken from a list price: a class that it names holds in all tiers of the list, unless it has tiers of
 * its own. Service tiers are taken from the list as long as the standard prices are: the list's would not fit to others.
 */
export function fillPriceTiers(
  own: readonly PriceTierText[],
  list: readonly PriceTierText[],
): readonly PriceTierText[] {
  const [base] = own;
  const [listBase] = list;
  if (base === undefined || listBase === undefined) return own;
  const ownRows = Map.groupBy(own, ({ service }) => service);
  const listRows = Map.groupBy(list, ({ service }) => service);
  const isListed = base.prices.input === undefined && base.prices.output === undefined;
  const services = new Set([...ownRows.keys(), ...(isListed ? listRows.keys() : [])]);
  return [...services].flatMap((service) =>
    fillRows(ownRows.get(service) ?? [], listRows.get(service) ?? [], base, listBase),
  );
}

/** The rows of one service tier. */
function fillRows(
  own: readonly PriceTierText[],
  list: readonly PriceTierText[],
  base: PriceTierText,
  listBase: PriceTierText,
): readonly PriceTierText[] {
  const sizes = own.length > 1 || list.length === 0 ? own : list;
  return sizes.map(({ aboveInputTokens, service }) => {
    const listed = list.findLast((tier) => tier.aboveInputTokens <= aboveInputTokens);
    const tier = own.find((each) => each.aboveInputTokens === aboveInputTokens);
    const sources = [tier, own[0] ?? base, listed, listBase];
    const lists = {
      images: first(sources, 'images'),
      searches: first(sources, 'searches'),
      regions: first(sources, 'regions'),
    };
    return {
      aboveInputTokens,
      ...(service === undefined ? {} : { service }),
      prices: { ...list[0]?.prices, ...listed?.prices, ...own[0]?.prices, ...tier?.prices },
      ...Object.fromEntries(Object.entries(lists).filter(([, value]) => value !== undefined)),
    };
  });
}

/** The member of the first that has it. */
function first<Name extends keyof PriceTierText>(
  sources: readonly (PriceTierText | undefined)[],
  name: Name,
): PriceTierText[Name] | undefined {
  return sources.find((source) => source?.[name] !== undefined)?.[name];
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

const searchFees = ['perCall', 'perWebSearch'] as const;

function readSearches(texts: readonly SearchPriceText[]): Result<readonly SearchPrice[], TierProblem> {
  const read: SearchPrice[] = [];
  for (const [index, text] of texts.entries()) {
    const fees: { -readonly [Name in (typeof searchFees)[number]]?: PicoUsd } = {};
    for (const name of searchFees) {
      const units = text[name] === undefined ? null : parseDecimal(text[name], digitsOf[name]);
      if (units === null) continue;
      if (!units.ok) return fail({ path: ['searches', index, name], reason: units.error });
      fees[name] = picoUsd(units.value);
    }
    read.push({ context: text.context, ...fees });
  }
  return succeed(read);
}

function readRegions(
  texts: Readonly<Record<string, string>>,
): Result<Readonly<Record<string, Ppm>>, TierProblem> {
  const read: Record<string, Ppm> = {};
  for (const [region, factor] of Object.entries(texts)) {
    const ppm = parseDecimal(factor, 6);
    if (!ppm.ok) return fail({ path: ['regions', region], reason: ppm.error });
    read[region] = ppm.value;
  }
  return succeed(read);
}

type Units = Partial<Record<PriceClass, PicoUsd>>;

function readUnits(prices: PriceText): Result<Units, TierProblem> {
  const given: Units = {};
  for (const priceClass of priceClassNames) {
    const text = prices[priceClass];
    if (text === undefined) continue;
    const units = parseDecimal(text, digitsOf[priceClass]);
    if (!units.ok) return fail({ path: [priceClass], reason: units.error });
    given[priceClass] = picoUsd(units.value);
  }
  return succeed(given);
}

/** A class without a price of its own costs what its nearest plain class does; pieces and calls are free unless priced. */
function completeClasses(given: Units): PriceClasses {
  const free = picoUsd(0n);
  const input = given.input ?? free;
  const output = given.output ?? free;
  const cacheRead = given.cacheRead ?? input;
  const cacheWrite5m = given.cacheWrite5m ?? input;
  const { cacheReadAudio = cacheRead, reasoning = output } = given;
  return {
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h: given.cacheWrite1h ?? cacheWrite5m,
    output,
    audioInput: given.audioInput ?? input,
    audioOutput: given.audioOutput ?? output,
    imageInput: given.imageInput ?? input,
    imageOutput: given.imageOutput ?? output,
    perImage: given.perImage ?? free,
    perCall: given.perCall ?? free,
    ...(cacheReadAudio === cacheRead ? {} : { cacheReadAudio }),
    ...(reasoning === output ? {} : { reasoning }),
  };
}

/** Tiers as decimal text that `readPriceTiers` reads back to the same tiers. */
export function writePriceTiers(tiers: readonly PriceTier[]): readonly PriceTierText[] {
  return tiers.map(({ aboveInputTokens, service, classes, fees, images, searches, regions }) => ({
    aboveInputTokens,
    ...(service === undefined ? {} : { service }),
    prices: writeUnits({ ...classes, ...fees }),
    ...(images === undefined ? {} : { images: images.map(writeImage) }),
    ...(searches === undefined ? {} : { searches: searches.map(writeSearch) }),
    ...(regions === undefined ? {} : { regions: writeRegions(regions) }),
  }));
}

function writeUnits(units: Units): PriceText {
  return Object.fromEntries(
    priceClassNames.flatMap((name) => {
      const price = units[name];
      return price === undefined ? [] : [[name, formatDecimal(price, digitsOf[name])]];
    }),
  );
}

function writeImage({ size, quality, price }: ImagePrice): ImagePriceText {
  return {
    ...(size === null ? {} : { size }),
    ...(quality === null ? {} : { quality }),
    price: formatDecimal(price, digitsOf.perImage),
  };
}

function writeSearch({ context, ...fees }: SearchPrice): SearchPriceText {
  return { context, ...writeUnits(fees) };
}

function writeRegions(regions: NonNullable<PriceTier['regions']>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(regions).map(([region, ppm]) => [region, formatDecimal(ppm, 6)]));
}
