/**
 * Writes `catalogue/prices/*.json`, the seed of prices and context windows, from @pydantic/genai-prices.
 * `node tools/generate/prices.ts`; the result is committed and depends on nothing but the package's version.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import { findProvider } from '@pydantic/genai-prices';
import { formatDecimal } from '../../packages/gateway/src/money/money.ts';

interface PriceSource {
  /** The provider's id in the package. */
  readonly from: string;
  /** True where the provider makes its models. */
  readonly vendor?: boolean;
  /** Models that do not answer in text, or that the provider has retired. */
  readonly leaveOut?: string;
}

type SourcePrice =
  | number
  | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] };
type SourcePrices = Readonly<Record<string, SourcePrice | undefined>>;
interface SourceVersion {
  readonly from: string | null;
  readonly prices: SourcePrices;
}

/** The package's price keys and our names for them; what is missing here (searches, pages, hours) is not metered per token. */
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

function tiersOf(prices: SourcePrices): readonly object[] {
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

function describeModel(model: ModelInfo): object {
  const names = new Set(otherNames(model.match));
  return {
    name: model.name ?? model.id,
    contextWindow: model.context_window ?? null,
    equals: [...names].filter((name) => name !== model.id).sort(),
    versions: versionsOf(model).map(({ from, prices }) => ({ from, tiers: tiersOf(prices) })),
  };
}

/** The day of the package's data, which the package does not say itself. */
const asOf = dateOf('genai-prices');

function dateOf(source: string): string {
  const { sources } = JSON.parse(readFileSync(`${catalogue}model-sources.json`, 'utf8')) as {
    readonly sources: Readonly<Record<string, { readonly date: string }>>;
  };
  const date = sources[source]?.date;
  if (date === undefined) throw new Error(`model-sources.json does not date ${source}`);
  return date;
}

function seedOf(source: PriceSource): object {
  const provider = findProvider({ providerId: source.from });
  if (provider === undefined) throw new Error(`the package has no provider ${source.from}`);
  const leaveOut = source.leaveOut === undefined ? null : new RegExp(source.leaveOut);
  const models = provider.models
    .filter((model) => model.deprecated !== true && isPricedPerToken(model) && !leaveOut?.test(model.id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    asOf,
    vendor: source.vendor === true,
    models: Object.fromEntries(models.map((model) => [model.id, describeModel(model)])),
  };
}

// The file is ours, beside this script; a test of the seed would show a wrong shape.
const sources = JSON.parse(readFileSync(`${catalogue}price-sources.json`, 'utf8')) as Record<
  string,
  PriceSource
>;
rmSync(`${catalogue}prices`, { recursive: true, force: true });
mkdirSync(`${catalogue}prices`);
for (const [id, source] of Object.entries(sources)) {
  writeFileSync(`${catalogue}prices/${id}.json`, `${JSON.stringify(seedOf(source), null, 1)}\n`);
}
