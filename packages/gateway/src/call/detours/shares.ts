import { addUsage, type Reading, type Usage, type UsageTerms } from '@headgate/protocols';
import type { ServedModel, Target } from '../../catalogue/catalogue.ts';
import { servedInstead } from '../../catalogue/served.ts';
import type { Metered } from '../../money/meter.ts';
import { type NanoUsd, zeroNanoUsd } from '../../money/money.ts';
import { type PricedPart, type PriceVersion, priceUsage } from '../../money/price.ts';
import type { EntryPart } from '../../ports/ledger.ts';
import type { Call } from '../request.ts';

/** The use of one model among several that had a share in an answer. */
export interface Share {
  readonly usage: Usage;
  /** Null is the model that was asked for. */
  readonly other: ServedModel | null;
}

/** The shares of the models that an answer names; null where it names none but the one that was asked for. */
export function sharesIn(
  { served }: Pick<Call, 'served'>,
  target: Target,
  { iterations = null, modelServed }: Reading,
  { usage, source }: Metered,
): readonly Share[] | null {
  const names = served.get(target.channel.id);
  if (names === undefined) return null;
  // An estimate covers more than the upstream has listed, and is of the model that it says has answered.
  const listed = source === 'upstream' ? iterations : null;
  const shares = (listed ?? [{ model: modelServed, usage }]).map((part) => {
    const name = part.model ?? modelServed;
    return { usage: part.usage, other: name === null ? null : servedInstead(names, target, name) };
  });
  return shares.length === 1 && shares[0]?.other === null ? null : shares;
}

/** The price that an entry names, and the parts that it keeps: null where one price holds for all of its usage. */
export interface Charged {
  readonly price: PriceVersion;
  readonly parts: readonly PricedPart[] | null;
}

/** The shares at their prices. One of a model without a price is charged as if the requested one had made it. */
export function chargedBy(shares: readonly Share[], price: PriceVersion): Charged {
  const parts = joined(shares.map(({ usage, other }) => ({ usage, price: other?.model.price ?? price })));
  return { price: parts[0]?.price ?? price, parts: severalOf(parts) };
}

/** One part alone is all of the usage: an entry tells it by its own price, usage and terms. */
function severalOf(parts: readonly PricedPart[]): readonly PricedPart[] | null {
  return parts.length === 1 ? null : parts;
}

/** Neighbours at one price without tiers are one part: it makes no difference, and loops of tools have many. */
function joined(parts: readonly PricedPart[]): readonly PricedPart[] {
  const rows: PricedPart[] = [];
  for (const part of parts) {
    const last = rows.at(-1);
    if (last?.price !== part.price || part.price.tiers.length > 1) rows.push(part);
    else rows[rows.length - 1] = { price: part.price, usage: addUsage(last.usage, part.usage) };
  }
  return rows;
}

/** The upstream's charge for the shares, as far as its prices are known. */
export function costOfShares(
  shares: readonly Share[],
  { cost }: Target,
  usage: Usage,
  terms: UsageTerms,
): NanoUsd {
  const parts = shares.flatMap((share) => {
    const price = share.other?.target.cost ?? cost;
    return price === null ? [] : [{ usage: share.usage, price }];
  });
  const first = parts[0]?.price;
  const several = shares.length === 1 ? null : parts;
  return first === undefined ? zeroNanoUsd : priceUsage(usage, first, 1_000_000n, terms, several);
}

export function partsToStore(parts: readonly PricedPart[]): readonly EntryPart[] {
  return parts.map(({ price, usage }) => ({ priceVersion: price.id, usage }));
}
