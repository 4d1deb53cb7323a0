import { noTerms, type Usage, type UsageTerms } from '@headgate/protocols';
import type { PriceTierText } from './price-terms.ts';

/**
 * Charges worked out a second time, from what price pages say and with fractions: nothing of it is shared with the code that
 * charges. It is slow, and written to be read beside `docs/billing.md`.
 */
class Fraction {
  readonly over: bigint;
  readonly under: bigint;

  constructor(over: bigint, under = 1n) {
    this.over = over;
    this.under = under;
  }

  static read(text: string): Fraction {
    const [whole = '0', decimals = ''] = text.split('.');
    return new Fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  }

  plus(other: Fraction): Fraction {
    return new Fraction(this.over * other.under + other.over * this.under, this.under * other.under);
  }

  minus(other: Fraction): Fraction {
    return this.plus(new Fraction(-other.over, other.under));
  }

  times(other: Fraction): Fraction {
    return new Fraction(this.over * other.over, this.under * other.under);
  }

  /** To the nearest whole number; a half goes to the even one. */
  round(): bigint {
    const below = this.over / this.under;
    const twiceRest = 2n * (this.over - below * this.under);
    const isUp = twiceRest > this.under || (twiceRest === this.under && below % 2n === 1n);
    return isUp ? below + 1n : below;
  }
}

const perMillion = new Fraction(1n, 1_000_000n);
const nanoPerDollar = new Fraction(1_000_000_000n);

/** A class without a price on a page costs as much as this one does. */
const plainer: Readonly<Record<string, string>> = {
  cacheRead: 'input',
  cacheReadAudio: 'cacheRead',
  cacheWrite5m: 'input',
  cacheWrite1h: 'cacheWrite5m',
  audioInput: 'input',
  imageInput: 'input',
  reasoning: 'output',
  audioOutput: 'output',
  imageOutput: 'output',
};

const pieces = [
  'perImage',
  'perCall',
  'citation',
  'perWebSearch',
  'perFileSearch',
  'perCodeSession',
  'perGrounding',
  'perPage',
];

/** Tokens are counted once each; the tokens of thought have a line of their own on some pages. */
function tokenLines(usage: Usage): readonly (readonly [string, number])[] {
  return [
    ['input', usage.inputFresh],
    ['cacheRead', usage.inputCacheRead],
    ['cacheReadAudio', usage.inputCacheReadAudio],
    ['cacheWrite5m', usage.inputCacheWrite5m],
    ['cacheWrite1h', usage.inputCacheWrite1h],
    ['audioInput', usage.inputAudio],
    ['imageInput', usage.inputImage],
    ['output', usage.output - usage.outputReasoning],
    ['reasoning', usage.outputReasoning],
    ['audioOutput', usage.outputAudio],
    ['imageOutput', usage.outputImage],
  ];
}

/** A page as it is read: rows of prices, standard ones first. */
export type PricePage = readonly PriceTierText[];

interface Row {
  readonly prices: Readonly<Record<string, string | undefined>>;
  readonly own: PriceTierText | undefined;
}

function rowFor(page: PricePage, service: string | null, prompt: number): Row {
  const isOffered = page.some((row) => (row.service ?? null) === service);
  const rows = page.filter((row) => (row.service ?? null) === (isOffered ? service : null));
  const reached = rows.filter(({ aboveInputTokens }) => aboveInputTokens === 0 || prompt > aboveInputTokens);
  const own = reached.reduce((best, row) => (row.aboveInputTokens > best.aboveInputTokens ? row : best));
  const first = rows.find(({ aboveInputTokens }) => aboveInputTokens === 0);
  const standard = page.find((row) => row.service === undefined && row.aboveInputTokens === 0);
  const fees = Object.fromEntries(
    Object.entries(standard?.prices ?? {}).filter(([name]) => pieces.includes(name)),
  );
  return { prices: { ...fees, ...first?.prices, ...own.prices }, own };
}

function priceIn({ prices }: Row, name: string): Fraction {
  const found = prices[name];
  if (found !== undefined) return Fraction.read(found);
  const next = plainer[name];
  return next === undefined ? new Fraction(0n) : priceIn({ prices, own: undefined }, next);
}

function allInput(usage: Usage): number {
  const { inputFresh, inputCacheRead, inputCacheReadAudio, inputCacheWrite5m, inputCacheWrite1h } = usage;
  const { inputAudio, inputImage } = usage;
  return (
    inputFresh +
    inputCacheRead +
    inputCacheReadAudio +
    inputCacheWrite5m +
    inputCacheWrite1h +
    inputAudio +
    inputImage
  );
}

function tokensCost(page: PricePage, usage: Usage, terms: UsageTerms, prompt: number): Fraction {
  const row = rowFor(page, terms.service, prompt);
  const factor = terms.region === null ? undefined : page[0]?.regions?.[terms.region];
  const sum = tokenLines(usage)
    .map(([name, tokens]) =>
      priceIn(row, name)
        .times(perMillion)
        .times(new Fraction(BigInt(tokens))),
    )
    .reduce((a, b) => a.plus(b));
  return factor === undefined ? sum : sum.times(Fraction.read(factor));
}

function feesCost(page: PricePage, usage: Usage, terms: UsageTerms, prompt: number): Fraction {
  const row = rowFor(page, terms.service, prompt);
  const searches = page[0]?.searches ?? [];
  const search = searches.find(({ context }) => context === terms.searchContext) ?? searches[0];
  const image = (page[0]?.images ?? []).find(
    ({ size = terms.size, quality = terms.quality }) => size === terms.size && quality === terms.quality,
  );
  const fee = (name: string, instead: string | undefined): Fraction =>
    instead === undefined ? priceIn(row, name) : Fraction.read(instead);
  const count = (units: number) => new Fraction(BigInt(units));
  return [
    fee('perCall', search?.perCall),
    fee('perWebSearch', search?.perWebSearch).times(count(usage.webSearches)),
    fee('perImage', image?.price).times(count(usage.images)),
    priceIn(row, 'perFileSearch').times(count(usage.fileSearches)),
    priceIn(row, 'perCodeSession').times(count(usage.codeSessions)),
    priceIn(row, 'perGrounding').times(count(usage.groundings)),
    priceIn(row, 'perPage').times(count(usage.pages)),
    priceIn(row, 'citation').times(perMillion).times(count(usage.citation)),
  ].reduce((a, b) => a.plus(b));
}

/**
 * The charge in nano-dollars. `prompts`: what each of several prompts used, whose context tiers are their own. `percentOff`: the discount of
 * the account.
 */
export function calculate(
  page: PricePage,
  usage: Usage,
  multiplier: string,
  terms: UsageTerms = noTerms,
  prompts: readonly Usage[] | null = null,
  percentOff = '0',
): bigint {
  const prompt = terms.promptTokens ?? allInput(usage);
  const tokens = (prompts ?? [usage])
    .map((part) => tokensCost(page, part, terms, prompts === null ? prompt : allInput(part)))
    .reduce((a, b) => a.plus(b));
  return tokens
    .plus(feesCost(page, usage, terms, prompt))
    .times(Fraction.read(multiplier))
    .times(Fraction.read('100').minus(Fraction.read(percentOff)).times(new Fraction(1n, 100n)))
    .times(nanoPerDollar)
    .round();
}
