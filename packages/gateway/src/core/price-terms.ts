import { fail, type Result, succeed } from '@headgate/protocols';
import { formatDecimal, parseDecimal } from './decimal.ts';
import { type PicoUsd, picoUsd } from './money.ts';
import type { PriceClasses, PriceTier } from './price.ts';

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

export interface PriceTierText {
  readonly aboveInputTokens: number;
  readonly prices: PriceText;
}

export interface PriceTextProblem {
  readonly tier: number;
  readonly priceClass: PriceClass;
  readonly reason: string;
}

/** Reads tiers of decimal text. A later tier takes what it leaves out from the first one. */
export function readPriceTiers(
  tiers: readonly PriceTierText[],
): Result<readonly PriceTier[], PriceTextProblem> {
  const base = tiers[0]?.prices ?? {};
  const read: PriceTier[] = [];
  for (const [index, tier] of tiers.entries()) {
    const classes = readClasses({ ...base, ...tier.prices });
    if (!classes.ok) return fail({ tier: index, ...classes.error });
    read.push({ aboveInputTokens: tier.aboveInputTokens, classes: classes.value });
  }
  return succeed(read.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens));
}

function readClasses(prices: PriceText): Result<PriceClasses, Omit<PriceTextProblem, 'tier'>> {
  const given: Partial<Record<PriceClass, PicoUsd>> = {};
  for (const priceClass of priceClassNames) {
    const text = prices[priceClass];
    if (text === undefined) continue;
    const units = parseDecimal(text, digitsOf[priceClass]);
    if (!units.ok) return fail({ priceClass, reason: units.error });
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
  return tiers.map(({ aboveInputTokens, classes }) => ({
    aboveInputTokens,
    prices: Object.fromEntries(
      priceClassNames.map((name) => [name, formatDecimal(classes[name], digitsOf[name])]),
    ),
  }));
}
