import { type ListPrice, versionAt } from '../catalogue/price-book.ts';
import { writePriceTiers } from '../money/price-terms.ts';
import type { StoredPrice } from '../ports/configuration-store.ts';
import type { ModelPrice, PriceHistory } from './model-prices.ts';

/** The price of a model and what it costs on each channel, as programs read them. */
export function viewOf({ model, costs, ...history }: ModelPrice) {
  return {
    model: model.id,
    offered: model.isOffered,
    ...historyView(history),
    costs: costs.map(({ channel, upstreamModel, tiers, ...cost }) => ({
      channel,
      upstreamModel,
      ...historyView(cost),
      tiers: tiers === null ? null : writePriceTiers(tiers),
    })),
  };
}

function historyView({ stored, later, versions }: PriceHistory) {
  return {
    ...versionView(stored),
    planned: later.map(({ fromMs, price }) => ({ from: isoTime(fromMs), ...versionView(price) })),
    history: versions.map(versionView),
  };
}

function versionView(price: StoredPrice | null) {
  return {
    version: price?.version ?? null,
    since: price === null ? null : isoTime(price.effectiveFromMs),
    writtenAt: price === null ? null : isoTime(price.writtenAtMs),
    source: price?.source ?? null,
    origin: price?.origin ?? null,
    tiers: price === null || price.tiers.length === 0 ? null : writePriceTiers(price.tiers),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The price of the catalogue's list, and the sources that do not agree with it. */
export function listView({ list, model }: ListPrice, nowMs: number) {
  return {
    list: list.id,
    asOf: list.asOf(model),
    tiers: versionAt(model, nowMs)?.tiers ?? [],
    disputed: list.disputed(model),
  };
}
