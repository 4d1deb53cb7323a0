/**
 * Writes `catalogue/prices/*.json`, list prices and context windows, from @pydantic/genai-prices and from litellm, which also knows
 * service tiers, regions and fees. Where the two differ the newer one holds; a change that is announced for later is kept.
 * `node tools/generate/prices.ts [--packages DIRECTORY]`; the result is committed and depends on nothing but the packages' versions.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import { findProvider } from '@pydantic/genai-prices';
import { withoutDate } from '../../packages/gateway/src/catalogue/model-facts.ts';
import { formatDecimal } from '../../packages/gateway/src/money/money.ts';
import {
  isPiece,
  type PriceText,
  type PriceTierText,
  priceClassNames,
} from '../../packages/gateway/src/money/price-terms.ts';
import { type PackageSource, unpackedPackage } from './models/packages.ts';
import { type ListedTerms, readListedTerms } from './prices/listed-terms.ts';

interface PriceSource {
  /** The provider's id in the package. */
  readonly from: string;
  /** True where the provider makes its models. */
  readonly vendor?: boolean;
  /** Models that do not answer in text, or that the provider has retired. */
  readonly leaveOut?: string;
  /** The provider's name at litellm, where it is not ours. */
  readonly terms?: string;
  /** Fees in USD that hold for all of its models, from its price page. */
  readonly fees?: PriceText;
}

type SourcePrice =
  | number
  | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] };
type SourcePrices = Readonly<Record<string, SourcePrice | undefined>>;
interface SourceVersion {
  readonly from: string | null;
  readonly prices: SourcePrices;
}

/** The package's price keys and our names for them; what is missing here (searches, pages) the other source tells. */
const classOf = {
  input_mtok: 'input',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite5m',
  cache_write_1h_mtok: 'cacheWrite1h',
  output_mtok: 'output',
  input_audio_mtok: 'audioInput',
  output_audio_mtok: 'audioOutput',
  input_image_mtok: 'imageInput',
  output_image_mtok: 'imageOutput',
} as const;

const catalogue = fileURLToPath(new URL('../../catalogue/', import.meta.url));

/** The package writes prices as floats: their shortest decimal is what was meant, and six digits are a pico-dollar. */
function exactDecimal(price: number): string {
  const text = price.toString();
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`unexpected price ${text}`);
  const [whole = '0', fraction = ''] = text.split('.');
  const units = BigInt(whole + fraction.slice(0, 6).padEnd(6, '0'));
  const roundUp = Number(fraction.charAt(6) || '0') >= 5;
  return formatDecimal(roundUp ? units + 1n : units, 6);
}

function priceAt(price: SourcePrice, aboveInputTokens: number): number {
  if (typeof price === 'number') return price;
  return price.tiers.filter((tier) => tier.start <= aboveInputTokens).at(-1)?.price ?? price.base;
}

function thresholds(prices: SourcePrices): readonly number[] {
  const starts = Object.values(prices).flatMap((price) =>
    typeof price === 'object' ? price.tiers.map((tier) => tier.start) : [],
  );
  return [...new Set([0, ...starts])].sort((a, b) => a - b);
}

function tiersOf(prices: SourcePrices): readonly PriceTierText[] {
  return thresholds(prices).map((aboveInputTokens) => ({
    aboveInputTokens,
    prices: Object.fromEntries(
      Object.entries(classOf).flatMap(([key, name]) => {
        const price = prices[key];
        return price === undefined ? [] : [[name, exactDecimal(priceAt(price, aboveInputTokens))]];
      }),
    ),
  }));
}

/** Prices that vary over the day are taken at their dearest, so that a seed never undercharges. */
function dearest(a: SourcePrices, b: SourcePrices): SourcePrices {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return Object.fromEntries(keys.map((key) => [key, dearer(a[key], b[key])]));
}

function dearer(a: SourcePrice | undefined, b: SourcePrice | undefined): SourcePrice | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (typeof a === 'number' && typeof b === 'number') return Math.max(a, b);
  throw new Error('prices that vary by time of day and by context are not expected');
}

function versionsOf(model: ModelInfo): readonly SourceVersion[] {
  // The package types prices by an open record of classes that its data never leaves; this names the shape of a price.
  const rows = (Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]) as readonly {
    readonly constraint?: { readonly type: string; readonly start_date?: string };
    readonly prices: SourcePrices;
  }[];
  const dated = rows.filter((row) => row.constraint?.type !== 'time_of_date');
  const windows = rows.filter((row) => row.constraint?.type === 'time_of_date');
  return dated.map((row) => ({
    from: row.constraint?.start_date ?? null,
    prices: windows.reduce((prices, window) => dearest(prices, window.prices), row.prices),
  }));
}

/** What a name is said to begin with is a name, too: dated versions are found by it, and what else begins so is another model. */
function otherNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(otherNames);
  if ('equals' in match) return [match.equals];
  return 'starts_with' in match ? [match.starts_with.replace(/[-@]$/, '')] : [];
}

function isPricedPerToken(model: ModelInfo): boolean {
  return versionsOf(model).every(
    ({ prices }) => prices['input_mtok'] !== undefined && prices['output_mtok'] !== undefined,
  );
}

/** As the newer source has it, and what the other one announces for later. */
function newestVersions(model: ModelInfo, listed: ListedTerms | undefined): readonly object[] {
  const versions = versionsOf(model).map(({ from, prices }) => ({ from, tiers: tiersOf(prices) }));
  if (listed === undefined) return versions;
  const later = versions.filter(({ from }) => from !== null && from > termsDate);
  return [
    { from: null, tiers: listed.tiers },
    ...later.map(({ from, tiers }) => ({ from, tiers: withFees(tiers, listed) })),
  ];
}

/** Fees stay as they are when prices of tokens change; those of service tiers are not known before. */
function withFees(
  [base, ...others]: readonly PriceTierText[],
  { tiers: [now] }: ListedTerms,
): readonly PriceTierText[] {
  if (base === undefined || now === undefined) return [];
  const fees = priceClassNames.flatMap((name) =>
    isPiece(name) || name === 'citation' ? [[name, now.prices[name]] as const] : [],
  );
  const { searches, regions } = now;
  const lists = {
    ...(searches === undefined ? {} : { searches }),
    ...(regions === undefined ? {} : { regions }),
  };
  const known = Object.fromEntries(fees.filter(([, fee]) => fee !== undefined));
  return [{ ...base, prices: { ...base.prices, ...known }, ...lists }, ...others];
}

function describeListed(id: string, { contextWindow, tiers }: ListedTerms): object {
  return { name: id, contextWindow, equals: [], versions: [{ from: null, tiers }], source: 'litellm' };
}

/** The older source's word where it contradicts the newer one: what only one of them says is no contradiction. */
function disputeOf(
  model: ModelInfo,
  listed: ListedTerms | undefined,
): { readonly disputed?: Readonly<Record<string, readonly PriceTierText[]>> } {
  const older = versionsOf(model).findLast(({ from }) => from === null || from <= termsDate);
  if (listed === undefined || older === undefined) return {};
  const said = tiersOf(older.prices);
  const isContradicted = said.some(({ aboveInputTokens, prices }) => {
    const same = listed.tiers.find(
      (tier) => tier.service === undefined && tier.aboveInputTokens === aboveInputTokens,
    );
    return priceClassNames.some((name) => {
      const [one, other] = [prices[name], same?.prices[name]];
      return one !== undefined && other !== undefined && one !== other;
    });
  });
  return isContradicted ? { disputed: { 'genai-prices': said } } : {};
}

function describeModel(model: ModelInfo, listed: ListedTerms | undefined): object {
  const names = new Set(otherNames(model.match));
  return {
    name: model.name ?? model.id,
    contextWindow: model.context_window ?? listed?.contextWindow ?? null,
    equals: [...names].filter((name) => name !== model.id).sort(),
    versions: newestVersions(model, listed),
    source: listed === undefined ? 'genai-prices' : 'litellm',
    ...disputeOf(model, listed),
  };
}

// The file is ours; the tests of what is written would show a wrong shape.
const { sources: packages } = JSON.parse(readFileSync(`${catalogue}model-sources.json`, 'utf8')) as {
  readonly sources: Readonly<Record<string, PackageSource>>;
};
const { values: options } = parseArgs({
  options: { packages: { type: 'string', default: join(tmpdir(), 'headgate-model-sources') } },
});
const listings = packages['litellm'];
if (listings === undefined) throw new Error('model-sources.json does not name litellm');
const directory = unpackedPackage(listings, options.packages);
/** The day of litellm's data, which is the newer one. */
const termsDate = listings.date;

function dateOf(source: string): string {
  const date = packages[source]?.date;
  if (date === undefined) throw new Error(`model-sources.json does not date ${source}`);
  return date;
}

const dates = { litellm: termsDate, 'genai-prices': dateOf('genai-prices') };

/** One line for a model, so that a change of it is one line of a diff. */
function seedOf(id: string, source: PriceSource): string {
  const provider = findProvider({ providerId: source.from });
  if (provider === undefined) throw new Error(`the package has no provider ${source.from}`);
  const leaveOut = source.leaveOut === undefined ? null : new RegExp(source.leaveOut);
  const listed = readListedTerms(directory, source.terms ?? id, source.fees ?? {});
  const known = provider.models.filter(
    (model) => model.deprecated !== true && isPricedPerToken(model) && !leaveOut?.test(model.id),
  );
  const names = new Set(known.flatMap((model) => [model.id, ...otherNames(model.match)]));
  const models = new Map(known.map((model) => [model.id, describeModel(model, listed.get(model.id))]));
  for (const [model, terms] of source.vendor === true ? listed : [])
    if (!names.has(model) && !names.has(withoutDate(model)) && (terms.isSpecial || !leaveOut?.test(model)))
      models.set(model, describeListed(model, terms));
  const lines = [...models]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, record]) => `  ${JSON.stringify(model)}: ${JSON.stringify(record)}`);
  const head = ` "sources": ${JSON.stringify(dates)},\n "vendor": ${source.vendor === true},\n`;
  return `{\n${head} "models": {\n${lines.join(',\n')}\n }\n}\n`;
}

// The file is ours, beside this script; a test of the seed would show a wrong shape.
const sources = JSON.parse(readFileSync(`${catalogue}price-sources.json`, 'utf8')) as Record<
  string,
  PriceSource
>;
rmSync(`${catalogue}prices`, { recursive: true, force: true });
mkdirSync(`${catalogue}prices`);
for (const [id, source] of Object.entries(sources)) {
  writeFileSync(`${catalogue}prices/${id}.json`, seedOf(id, source));
}
