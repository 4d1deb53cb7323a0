import type { Model, Target } from '../catalogue/catalogue.ts';
import type { PriceOrigin } from '../catalogue/price-book.ts';
import { type PriceTimeline, timelineOf } from '../catalogue/price-timeline.ts';
import { formatDecimal } from '../money/money.ts';
import type { PriceClasses, PriceTier } from '../money/price.ts';
import type { StoredConfiguration, StoredPrice } from '../ports/configuration-store.ts';

/** The price of a model and what its channels cost, for operators. Prices in USD per million tokens, as exact decimals. */
export interface ModelPrice extends PriceHistory {
  readonly model: Model;
  readonly costs: readonly ChannelCost[];
}

/** All that is stored of the price of one subject. */
export interface PriceHistory {
  /** The version in force; null is none. */
  readonly stored: StoredPrice | null;
  readonly later: PriceTimeline['later'];
  /** In the order in which they were written. */
  readonly versions: readonly StoredPrice[];
}

export interface ChannelCost extends PriceHistory {
  readonly channel: string;
  readonly upstreamModel: string;
  /** Null where it is not known. */
  readonly tiers: readonly PriceTier[] | null;
}

/** The prices of these models: versions of others are not looked at. */
export function modelPrices(
  models: Iterable<Model>,
  { prices }: StoredConfiguration,
  nowMs: number,
): readonly ModelPrice[] {
  const asked = [...models];
  const subjects = new Set(
    asked.flatMap(({ id, targets }) => [
      `model:${id}`,
      ...targets.map(({ channel }) => `channel:${channel.id}/${id}`),
    ]),
  );
  const versions = Map.groupBy(
    prices.filter(({ subject }) => subjects.has(subject)),
    ({ subject }) => subject,
  );
  const historyOf = (subject: string): PriceHistory => {
    const known = versions.get(subject) ?? [];
    const { current, later } = timelineOf(known, nowMs);
    return { stored: current, later, versions: known };
  };
  return asked.map((model) => ({
    model,
    ...historyOf(`model:${model.id}`),
    costs: model.targets.map(({ channel, upstreamModel, cost }: Target) => ({
      channel: channel.id,
      upstreamModel,
      tiers: cost?.tiers ?? null,
      ...historyOf(`channel:${channel.id}/${model.id}`),
    })),
  }));
}

/** Says who says a price, and as of when: `openai 2026-09-23`, `yours 2026-11-22`, and `set 2026-11-22` where a command did. */
export function originText(stored: StoredPrice | null): string {
  if (stored === null) return 'none: hidden';
  const since = new Date(stored.effectiveFromMs).toISOString().slice(0, 10);
  const { origin, source } = stored;
  if (source === 'operator') return `set ${new Date(stored.writtenAtMs).toISOString().slice(0, 10)}`;
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

/** A price of a million tokens with its cents. */
export function perMillion(price: bigint): string {
  const [whole, fraction = ''] = formatDecimal(price, 6).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}
