import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDecimal } from '../../../packages/gateway/src/money/money.ts';
import type { PriceText, PriceTierText } from '../../../packages/gateway/src/money/price-terms.ts';

/** A model as litellm lists it: a flat object, whose names say class, context tier and service tier in one. */
type Listing = Readonly<Record<string, unknown>>;

export interface ListedTerms {
  readonly contextWindow: number | null;
  readonly tiers: readonly PriceTierText[];
  /** True of models that make pictures, or read text into vectors: those without a price for text out. */
  readonly isSpecial: boolean;
}

/** The beginnings of names of prices, and our names for them; behind them stand the tiers. */
const classOf = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  output_cost_per_reasoning_token: 'reasoning',
  cache_read_input_token_cost: 'cacheRead',
  cache_read_input_audio_token_cost: 'cacheReadAudio',
  cache_creation_input_token_cost: 'cacheWrite5m',
  cache_creation_input_token_cost_above_1hr: 'cacheWrite1h',
  input_cost_per_audio_token: 'audioInput',
  output_cost_per_audio_token: 'audioOutput',
  input_cost_per_image_token: 'imageInput',
  output_cost_per_image_token: 'imageOutput',
} as const;

type TokenClass = (typeof classOf)[keyof typeof classOf];

const outputClasses: readonly TokenClass[] = ['output', 'reasoning', 'audioOutput', 'imageOutput'];

const cacheWrites: readonly TokenClass[] = ['cacheWrite5m', 'cacheWrite1h'];

const namePattern = new RegExp(
  `^(${Object.keys(classOf)
    .sort((a, b) => b.length - a.length)
    .join('|')})(?:_above_(\\d+)k_tokens)?(?:_([a-z]+))?$`,
);

const serviceNames: Readonly<Record<string, string>> = { batches: 'batch' };

type Prices = Map<TokenClass, bigint>;
/** Prices in pico-dollars, by service tier (empty for the standard one) and by context tier. */
type Table = Map<string, Map<number, Prices>>;

/** A price per token, or a fee, as a whole number of pico-dollars: what the floats of the package mean. */
function pico(value: unknown): bigint | null {
  return typeof value === 'number' && value >= 0 ? BigInt(Math.round(value * 1e12)) : null;
}

function tableOf(listing: Listing): Table {
  const table: Table = new Map();
  for (const [name, value] of Object.entries(listing)) {
    const found = namePattern.exec(name);
    const price = pico(value);
    if (found === null || price === null) continue;
    const [, stem = '', thousands = '0', suffix = ''] = found;
    const service = serviceNames[suffix] ?? suffix;
    const rows = table.get(service) ?? new Map<number, Prices>();
    const prices: Prices = rows.get(Number(thousands) * 1000) ?? new Map();
    const priceClass = classOf[stem as keyof typeof classOf]; // The pattern is made of the table's keys.
    // Some write 0 where a vendor takes nothing on top for writing its cache: what is written is read as well.
    if (price === 0n && cacheWrites.includes(priceClass)) continue;
    prices.set(priceClass, price);
    table.set(service, rows.set(Number(thousands) * 1000, prices));
  }
  return table;
}

/** A class that a service tier does not list costs there as much more or less as plain input or output does, rounded up. */
function fill(prices: Prices, standard: Prices): Prices {
  const filled: Prices = new Map(prices);
  for (const [name, price] of standard) {
    const plain = outputClasses.includes(name) ? 'output' : 'input';
    const [own, usual] = [prices.get(plain), standard.get(plain)];
    if (filled.has(name) || own === undefined || usual === undefined || usual === 0n) continue;
    filled.set(name, (price * own + usual - 1n) / usual);
  }
  return filled;
}

function textOf(prices: Prices): PriceText {
  return Object.fromEntries(
    Object.values(classOf).flatMap((name) => {
      const price = prices.get(name);
      if (name === 'reasoning' && price === prices.get('output')) return [];
      return price === undefined ? [] : [[name, formatDecimal(price, 6)]];
    }),
  );
}

/** Speeds and regions are listed as factors: a speed is a service tier, a region makes tokens dearer in every tier. */
function factorsOf(listing: Listing): {
  readonly speeds: ReadonlyMap<string, bigint>;
  readonly regions: ReadonlyMap<string, bigint>;
} {
  const speeds = new Map<string, bigint>();
  const regions = new Map<string, bigint>();
  for (const [name, factor] of Object.entries(recordOf(listing['provider_specific_entry']))) {
    if (typeof factor !== 'number') continue;
    (name === 'fast' ? speeds : regions).set(name, BigInt(Math.round(factor * 1e6)));
  }
  for (const region of ['us', 'eu']) {
    const factor = listing[`regional_processing_uplift_multiplier_${region}`];
    if (typeof factor === 'number') regions.set(region, BigInt(Math.round(factor * 1e6)));
  }
  return { speeds, regions };
}

function recordOf(value: unknown): Listing {
  return typeof value === 'object' && value !== null ? (value as Listing) : {};
}

/** Searches cost the same in every context, or go by it; some models search for every call, and some bill a grounded answer once. */
function searchFees(
  id: string,
  listing: Listing,
): Pick<PriceTierText, 'searches'> & { readonly prices: PriceText } {
  const byContext = recordOf(listing['search_context_cost_per_query']);
  const fees = ['low', 'medium', 'high'].flatMap((context) => {
    const fee = pico(byContext[`search_context_size_${context}`]);
    return fee === null ? [] : [{ context, fee: formatDecimal(fee, 12) }];
  });
  const [first] = fees;
  if (first === undefined) return { prices: {} };
  const isByCall =
    listing['litellm_provider'] === 'perplexity' ? !id.includes('research') : /-search-/.test(id);
  if (fees.some(({ fee }) => fee !== first.fee))
    return {
      prices: { perWebSearch: '0' },
      searches: fees.map(({ context, fee }) => ({ context, perCall: fee })),
    };
  if (isByCall) return { prices: { perCall: first.fee, perWebSearch: '0' } };
  const isByAnswer =
    listing['litellm_provider'] === 'gemini' && listing['web_search_billing_unit'] !== 'per_query';
  return {
    prices: isByAnswer ? { perGrounding: first.fee, perWebSearch: '0' } : { perWebSearch: first.fee },
  };
}

function otherFees(listing: Listing): PriceText {
  const citation = pico(listing['citation_cost_per_token']);
  const page = pico(listing['ocr_cost_per_page']);
  return {
    ...(citation === null ? {} : { citation: formatDecimal(citation, 6) }),
    ...(page === null ? {} : { perPage: formatDecimal(page, 12) }),
  };
}

function termsOf(id: string, listing: Listing, usualFees: PriceText): ListedTerms {
  const table = tableOf(listing);
  const { speeds, regions } = factorsOf(listing);
  const standard = table.get('') ?? new Map<number, Prices>();
  const base: Prices = standard.get(0) ?? new Map();
  for (const [speed, factor] of speeds)
    table.set(
      speed,
      new Map([
        [0, new Map([...base].map(([name, price]) => [name, (price * factor) / 1_000_000n] as const))],
      ]),
    );
  const { searches, prices: searchPrices } = searchFees(id, listing);
  const byPiece =
    listing['output_cost_per_image'] ?? (base.size === 0 ? listing['input_cost_per_image'] : null);
  const perImage = base.has('imageOutput') ? null : pico(byPiece);
  const fees = {
    ...usualFees,
    ...searchPrices,
    ...otherFees(listing),
    ...(perImage === null ? {} : { perImage: formatDecimal(perImage, 12) }),
  };
  const tiers = [...table].flatMap(([service, rows]) => rowsOf(service, rows, standard, base));
  const [first, ...others] = tiers;
  const whole: PriceTierText = {
    ...(first ?? { aboveInputTokens: 0, prices: {} }),
    prices: { ...first?.prices, ...fees },
    ...(searches === undefined ? {} : { searches }),
    ...(regions.size === 0
      ? {}
      : { regions: Object.fromEntries([...regions].map(([name, ppm]) => [name, formatDecimal(ppm, 6)])) }),
  };
  const contextWindow = listing['max_input_tokens'];
  return {
    contextWindow: typeof contextWindow === 'number' ? contextWindow : null,
    tiers: [whole, ...others],
    isSpecial: listing['mode'] === 'image_generation' || listing['mode'] === 'embedding',
  };
}

/** A service tier of which a price of text, in or out, is not known is left out. */
function rowsOf(
  service: string,
  rows: ReadonlyMap<number, Prices>,
  standard: ReadonlyMap<number, Prices>,
  base: Prices,
): readonly PriceTierText[] {
  const own = rows.get(0);
  const isWhole =
    service === '' ||
    (own?.has('input') === true &&
      outputClasses.every((name) => own.has('output') || own.has(name) || !base.has(name)));
  if (!isWhole) return [];
  const sizes = [...rows.keys()].sort((a, b) => a - b);
  return sizes.map((aboveInputTokens) => {
    const usual = new Map([...base, ...(standard.get(aboveInputTokens) ?? [])]);
    const prices = rows.get(aboveInputTokens) ?? new Map();
    return {
      aboveInputTokens,
      ...(service === '' ? {} : { service }),
      prices: textOf(service === '' ? prices : fill(new Map([...(own ?? []), ...prices]), usual)),
    };
  });
}

/** Pieces of sound, and of pictures that are made in chats, are not counted: with nothing for tokens they would be free. */
function isPriced({ tiers: [base] }: ListedTerms): boolean {
  const { input, output, perImage } = base?.prices ?? {};
  return perImage === undefined ? input !== undefined : input !== '0' || output !== '0';
}

const modes: readonly unknown[] = ['chat', 'responses', 'image_generation', 'embedding'];

/** All that litellm lists of a provider's models, by their ids there. */
export function readListedTerms(
  directory: string,
  provider: string,
  fees: PriceText,
): ReadonlyMap<string, ListedTerms> {
  const file = join(directory, 'litellm', 'model_prices_and_context_window_backup.json');
  // The package's own file; a listing that is no object has no provider.
  const listings = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
  const found = new Map<string, ListedTerms>();
  for (const [name, value] of Object.entries(listings)) {
    const listing = recordOf(value);
    const id = name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
    if (listing['litellm_provider'] !== provider || !modes.includes(listing['mode']) || id.includes('/'))
      continue;
    const terms = termsOf(id, listing, fees);
    if (isPriced(terms)) found.set(id, terms);
  }
  return found;
}
