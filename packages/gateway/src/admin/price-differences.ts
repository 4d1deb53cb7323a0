import { type ListPrice, type PriceBook, versionAt } from '../catalogue/price-book.ts';
import type { PriceTier } from '../money/price.ts';
import { type PriceClass, type PriceTierText, writePriceTiers } from '../money/price-terms.ts';
import type { StoredPrice } from '../ports/configuration-store.ts';
import { type ModelPrice, originText } from './model-prices.ts';

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
  /** True where the next start, or applying the file, puts the other one's word in force. */
  readonly applies: boolean;
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
    return saidElsewhere(found, nowMs).flatMap(({ by, tiers, isListed }) =>
      differences(inForce, tiers).map((difference) => ({
        model: model.id,
        ...difference,
        inForceBy: originText(stored),
        otherBy: by,
        applies: isListed && follows(stored, difference.what),
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
        applies: false,
      })),
    );
  });
}

/** True for what a file or a start leaves to the list: it follows a newer one. What was set by a command, or imported, stays. */
function follows(stored: StoredPrice | null, what: string): boolean {
  if (stored?.source === 'operator' || stored?.source === 'import') return false;
  const origin = stored?.origin ?? null;
  if (origin === null) return stored === null;
  if (origin.by === 'catalogue') return true;
  const own = new Set((origin.own ?? []).flatMap(flat).map(([name]) => name.replace(/ above \d+$/, '')));
  return origin.by === 'both' && !own.has(what.replace(/ above \d+$/, ''));
}

interface Said {
  /** True of the list that prices are taken from. */
  readonly isListed: boolean;
  readonly by: string;
  readonly tiers: readonly PriceTierText[];
}

function saidElsewhere({ list, model }: ListPrice, nowMs: number): readonly Said[] {
  const version = versionAt(model, nowMs);
  const listed =
    version === null ? [] : [{ by: `${list.id} ${list.asOf(model)}`, tiers: version.tiers, isListed: true }];
  return [
    ...listed,
    ...list.disputed(model).map(({ source, asOf, tiers }) => ({
      by: `${source} ${asOf}`,
      tiers,
      isListed: false,
    })),
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

/** Every price of a row by its name: classes, then the lists beside them. */
function flat({
  aboveInputTokens,
  service,
  prices,
  images,
  searches,
  regions,
}: PriceTierText): [string, string][] {
  const above = aboveInputTokens === 0 ? '' : ` above ${aboveInputTokens}`;
  const lists: [string, string][] = [
    ...(images ?? []).map(({ size = 'any size', quality, price }): [string, string] => [
      ['image', size, quality].filter((word) => word !== undefined).join(' '),
      price,
    ]),
    ...(searches ?? []).flatMap(({ context, ...fees }) =>
      Object.entries(fees).map(([name, fee]): [string, string] => [`${context} search ${name}`, fee]),
    ),
    ...Object.entries(regions ?? {}).map(([region, factor]): [string, string] => [
      `region ${region}`,
      factor,
    ]),
  ];
  return [...Object.entries(prices), ...lists].map(([name, price]) => [
    `${service === undefined ? '' : `${service} `}${name}${above}`,
    price,
  ]);
}

/** The plainer class whose price one has, where nothing of its own is written. */
const plainerClass: Readonly<Partial<Record<PriceClass, PriceClass>>> = {
  cacheRead: 'input',
  cacheWrite5m: 'input',
  cacheWrite1h: 'cacheWrite5m',
  audioInput: 'input',
  imageInput: 'input',
  audioOutput: 'output',
  imageOutput: 'output',
};

/** One price as it was and as it becomes; null is none. */
export interface PriceMove {
  readonly what: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The differences between two prices of one subject. A class that goes with its plainer one is no change of its own. */
export function priceMoves(
  before: readonly PriceTier[] | null,
  after: readonly PriceTier[] | null,
): readonly PriceMove[] {
  const [old, next] = [before, after].map((tiers) => shortRows(tiers ?? []));
  const names = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
  return [...names].flatMap((what) => {
    const [was, is] = [old?.get(what) ?? null, next?.get(what) ?? null];
    return was === is ? [] : [{ what, before: was, after: is }];
  });
}

function shortRows(tiers: readonly PriceTier[]): ReadonlyMap<string, string> {
  const rows = writePriceTiers(tiers).map((tier) => ({
    ...tier,
    prices: Object.fromEntries(shortPrices(tier)),
  }));
  return new Map(rows.flatMap(flat));
}

/** The classes that say something: the others follow from them. */
export function shortPrices({ prices }: PriceTierText): readonly (readonly [PriceClass, string])[] {
  // The members of a price are its classes.
  const all = Object.entries(prices) as [PriceClass, string][];
  return all.filter(([name, price]) => {
    const plain = plainerClass[name];
    if (plain !== undefined) return price !== prices[plain];
    return price !== '0' || name === 'input' || name === 'output';
  });
}

function isSame(one: string, other: string): boolean {
  const trimmed = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  return trimmed(one) === trimmed(other);
}
