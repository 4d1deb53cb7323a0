import type { Catalogue, Model, Target } from '../catalogue/catalogue.ts';
import { type ListPrice, type PriceBook, type PriceOrigin, versionAt } from '../catalogue/price-book.ts';
import { formatDecimal } from '../money/money.ts';
import type { PriceClasses, PriceTier } from '../money/price.ts';
import { type PriceTierText, writePriceTiers } from '../money/price-terms.ts';
import type { StoredConfiguration, StoredPrice } from '../ports/configuration-store.ts';

/** The price of a model and what its channels cost, for operators. Prices in USD per million tokens, as exact decimals. */
export interface ModelPrice {
  readonly model: Model;
  readonly stored: StoredPrice | null;
  readonly costs: readonly ChannelCost[];
}

export interface ChannelCost {
  readonly channel: string;
  readonly upstreamModel: string;
  /** Null where it is not known. */
  readonly tiers: readonly PriceTier[] | null;
}

export function modelPrices({ models }: Catalogue, { prices }: StoredConfiguration): readonly ModelPrice[] {
  const byVersion = new Map(prices.map((price) => [price.version, price]));
  return [...models.values()].map((model) => ({
    model,
    stored: model.price === null ? null : (byVersion.get(model.price.id) ?? null),
    costs: model.targets.map(costOf),
  }));
}

function costOf({ channel, upstreamModel, cost }: Target): ChannelCost {
  return { channel: channel.id, upstreamModel, tiers: cost?.tiers ?? null };
}

/** Says who says a price, and as of when: `openai 2026-09-23`, `yours 2026-11-22`. */
export function originText(stored: StoredPrice | null): string {
  if (stored === null) return 'none: hidden';
  const since = new Date(stored.effectiveFromMs).toISOString().slice(0, 10);
  const { origin } = stored;
  if (origin === null) return `since ${since}`;
  return origin.by === 'catalogue' ? `${origin.list} ${origin.asOf}` : `yours ${since}`;
}

/** As `originText`, with what an entry of the operator's took from elsewhere. */
export function originSentence(origin: PriceOrigin | null): string {
  switch (origin?.by) {
    case undefined:
      return 'nobody noted who says it';
    case 'catalogue':
      return `list price of ${origin.list}, as of ${origin.asOf}`;
    case 'operator':
      return 'your own price';
    case 'both':
      return `your own price, the rest as in the list of ${origin.list} of ${origin.asOf}`;
  }
}

/** The least and the most of a class of prices over channels; null where no cost is known. */
export function costRange(
  costs: readonly ChannelCost[],
  priceClass: 'input' | 'output',
): readonly [bigint, bigint] | null {
  const known = costs.flatMap(({ tiers }) => {
    const classes = tiers?.[0]?.classes;
    if (classes === undefined) return [];
    return priceClass === 'input' ? classes.input : outputPrice(classes);
  });
  if (known.length === 0) return null;
  return [
    known.reduce((least, price) => (price < least ? price : least)),
    known.reduce((most, price) => (price > most ? price : most)),
  ];
}

/** The price of a token of output: of text, or of pictures where a model writes none. */
export function outputPrice({ output, imageOutput }: PriceClasses): bigint {
  return output === 0n ? imageOutput : output;
}

/** Tells what is left of the price of three tokens of input and one of output, in whole per cent: on the dearest channel and on the cheapest. */
export function marginRange({ model, costs }: ModelPrice): readonly [number, number] | null {
  const price = model.price?.tiers[0];
  const sums = costs.flatMap(({ tiers }) => (tiers?.[0] === undefined ? [] : blend(tiers[0])));
  const charged = price === undefined ? 0n : blend(price);
  if (charged === 0n || sums.length === 0) return null;
  const margins = sums.map((cost) => Math.round(Number(((charged - cost) * 1000n) / charged) / 10));
  return [Math.min(...margins), Math.max(...margins)];
}

function blend({ classes }: PriceTier): bigint {
  return 3n * classes.input + outputPrice(classes);
}

/** One class of a price, in one of its rows, as two sides have it. */
export interface PriceDifference {
  readonly model: string;
  /** `output`, or `priority output above 200000`. */
  readonly what: string;
  /** As it is in force; null where it has no such price. */
  readonly inForce: string | null;
  readonly inForceBy: string;
  /** The other one's word; null where it has none. */
  readonly other: string | null;
  readonly otherBy: string;
}

/** Finds what prices in force, the list prices of the catalogue and the sources of these do not agree about. */
export function priceDifferences(
  prices: readonly ModelPrice[],
  book: PriceBook,
  nowMs: number,
): readonly PriceDifference[] {
  return prices.flatMap(({ model, stored }) => {
    const found = book.find(model.pricedAs ?? model.id, nowMs);
    if (found === null) return [];
    const inForce = stored === null ? null : writePriceTiers(stored.tiers);
    return saidElsewhere(found, nowMs).flatMap(({ by, tiers }) =>
      differences(inForce, tiers).map((difference) => ({
        model: model.id,
        ...difference,
        inForceBy: originText(stored),
        otherBy: by,
      })),
    );
  });
}

/** Finds what the sources of all list prices do not agree about, be the models served or not. */
export function disputedPrices(book: PriceBook, nowMs: number): readonly PriceDifference[] {
  return [...book.disputed()].flatMap(({ id, list, model }) => {
    const listed = versionAt(model, nowMs)?.tiers ?? null;
    return list.disputed(model).flatMap(({ source, asOf, tiers }) =>
      differences(listed, tiers).map((difference) => ({
        model: id,
        ...difference,
        inForceBy: `${list.id} ${list.asOf(model)}`,
        otherBy: `${source} ${asOf}`,
      })),
    );
  });
}

interface Said {
  readonly by: string;
  readonly tiers: readonly PriceTierText[];
}

function saidElsewhere({ list, model }: ListPrice, nowMs: number): readonly Said[] {
  const version = versionAt(model, nowMs);
  const listed = version === null ? [] : [{ by: `${list.id} ${list.asOf(model)}`, tiers: version.tiers }];
  return [
    ...listed,
    ...list.disputed(model).map(({ source, asOf, tiers }) => ({ by: `${source} ${asOf}`, tiers })),
  ];
}

/** Only what the other side writes is compared: what follows from it is no second difference. */
function differences(
  inForce: readonly PriceTierText[] | null,
  other: readonly PriceTierText[],
): readonly Pick<PriceDifference, 'what' | 'inForce' | 'other'>[] {
  const held = new Map((inForce ?? []).flatMap(flat));
  const tiers = new Set((inForce ?? []).map(({ service }) => service));
  const isMissing = ({ service }: PriceTierText) => inForce !== null && !tiers.has(service);
  // A service tier that is not there is one difference, and not one for each of its prices.
  const missing = new Set(other.filter(isMissing).map(({ service }) => `${service} tier`));
  const compared = other.filter((tier) => !isMissing(tier)).flatMap(flat);
  return [
    ...compared.flatMap(([what, price]) => {
      const own = held.get(what) ?? null;
      return own !== null && isSame(own, price) ? [] : [{ what, inForce: own, other: price }];
    }),
    ...[...missing].map((what) => ({ what, inForce: null, other: 'priced' })),
  ];
}

function flat({ aboveInputTokens, service, prices }: PriceTierText): [string, string][] {
  const above = aboveInputTokens === 0 ? '' : ` above ${aboveInputTokens}`;
  return Object.entries(prices).map(([name, price]) => [
    `${service === undefined ? '' : `${service} `}${name}${above}`,
    price,
  ]);
}

function isSame(one: string, other: string): boolean {
  const trimmed = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  return trimmed(one) === trimmed(other);
}

/** A price of a million tokens with its cents. */
export function perMillion(price: bigint): string {
  const [whole, fraction = ''] = formatDecimal(price, 6).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}
