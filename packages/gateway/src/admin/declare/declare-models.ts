import type { ModelShape } from '../../config/configuration-schema.ts';
import type { ProviderDocument } from '../../config/provider-document.ts';
import type { PriceTier } from '../../core/price.ts';
import { findSeedModel, type SeedModel } from '../../core/price-seed.ts';
import type { DeclaredChannel, DeclaredModel } from '../../ports/configuration-store.ts';
import { declarePrice } from './declare-prices.ts';
import type { ProviderLookup } from './declare-providers.ts';
import { complain, type Declaring } from './declaring.ts';

/** Where a model is served, as far as its description follows from it. */
interface Origin {
  readonly provider: ProviderDocument;
  readonly seed: SeedModel | null;
  readonly cost: readonly PriceTier[] | null;
}

/** Every model the file or one of its channels names. What the file leaves out comes from where the model is served. */
export function declareModels(
  declaring: Declaring,
  providers: ProviderLookup,
  channels: readonly DeclaredChannel[],
): readonly DeclaredModel[] {
  const { models = {}, prices = {} } = declaring.file.shape;
  const origins = findOrigins(declaring, providers, channels);
  for (const id of [...Object.keys(models), ...Object.keys(prices)]) {
    if (!origins.has(id))
      complain(
        declaring,
        [Object.hasOwn(models, id) ? 'models' : 'prices', id],
        'no channel serves this model; add it to the models of one',
      );
  }
  return [...origins].map(([id, origin]) => {
    const shape = prices[id];
    const price =
      shape === undefined ? (origin?.cost ?? null) : declarePrice(declaring, shape, ['prices', id]);
    return describeModel(id, models[id] ?? {}, origin, price);
  });
}

/** The first channel by priority that knows most about a model: one with a price before one without. */
function findOrigins(
  { tools }: Declaring,
  providers: ProviderLookup,
  channels: readonly DeclaredChannel[],
): ReadonlyMap<string, Origin | null> {
  const origins = new Map<string, Origin | null>();
  for (const channel of [...channels].sort((a, b) => a.priority - b.priority)) {
    const provider = providers.find(channel.providerId);
    for (const { modelId, upstreamModel, cost } of channel.models) {
      const known = origins.get(modelId) ?? null;
      if (provider === null || (known !== null && (known.cost !== null || cost === null))) continue;
      const seed =
        provider.prices === undefined
          ? null
          : findSeedModel(tools.catalogue.priceSeed(provider.prices), upstreamModel);
      origins.set(modelId, { provider, seed, cost });
    }
  }
  return origins;
}

export function describeModel(
  id: string,
  shape: ModelShape,
  origin: Origin | null,
  price: readonly PriceTier[] | null,
): DeclaredModel {
  return {
    id,
    displayName: shape.displayName ?? origin?.seed?.name ?? id,
    // Callers see this word: it must not tell which provider serves them.
    ownedBy: shape.ownedBy ?? 'headgate',
    created: shape.created === undefined ? 0 : Date.parse(shape.created) / 1000,
    contextWindow: shape.contextWindow ?? origin?.seed?.contextWindow ?? null,
    maxOutputTokens: shape.maxOutputTokens ?? null,
    inputModalities: shape.inputModalities ?? ['text'],
    outputModalities: shape.outputModalities ?? ['text'],
    capabilities: shape.capabilities ?? [],
    reasoning: shape.reasoning ?? false,
    price,
  };
}
