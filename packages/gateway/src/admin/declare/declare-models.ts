import { type DeclaredChannel, type DeclaredModel, modelFields } from '../../catalogue/entities.ts';
import { declare } from '../../catalogue/fields.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';
import { type DeclaredTimeline, declareTimeline, listTimeline } from './declare-price.ts';
import { complain, type Declaring } from './declaring.ts';

/**
 * Every model the file or one of its channels names. What callers pay is the file's word, else the list price of the model: it is
 * the same whichever channels serve it, at whatever cost.
 */
export function declareModels(
  declaring: Declaring,
  channels: readonly DeclaredChannel[],
): readonly DeclaredModel[] {
  const { models = {}, prices = {} } = declaring.file.shape;
  const served = new Set(channels.flatMap((channel) => channel.models.map(({ modelId }) => modelId)));
  for (const id of [...Object.keys(models), ...Object.keys(prices)]) {
    if (!served.has(id))
      complain(
        declaring,
        [Object.hasOwn(models, id) ? 'models' : 'prices', id],
        'no channel serves this model; add it to the models of one',
      );
  }
  return [...served].map((id) => declareModel(declaring, id));
}

function declareModel(declaring: Declaring, id: string): DeclaredModel {
  const { catalogue, nowMs } = declaring.tools;
  const { models = {}, prices = {} } = declaring.file.shape;
  const model = describeModel(id, models[id] ?? {}, catalogue, nowMs);
  const own = prices[id];
  const { pricedAs } = model;
  if (pricedAs !== null && model.price === null) {
    const known = catalogue.prices().names();
    const message = `the catalogue has no list price of "${pricedAs}"${didYouMean(pricedAs, known)}; name a model that it has, or write one under prices`;
    complain(declaring, ['models', id, 'pricedAs'], message);
  }
  if (own === undefined) return model;
  const list = catalogue.prices().find(pricedAs ?? id, nowMs);
  const { price: _, priceOrigin: __, priceLater: ___, ...rest } = model;
  const price = declareTimeline(declaring, own, ['prices', id], list, nowMs);
  return { ...rest, ...pricesOf(price ?? { tiers: null, origin: null, later: [] }) };
}

function pricesOf({
  tiers,
  origin,
  later,
}: DeclaredTimeline): Pick<DeclaredModel, 'price' | 'priceOrigin' | 'priceLater'> {
  return { price: tiers, priceOrigin: origin, ...(later.length === 0 ? {} : { priceLater: later }) };
}

/** A model as its own entry and the catalogue have it, at its list price. */
export function describeModel(
  id: string,
  shape: object,
  catalogue: CatalogueFiles,
  nowMs: number,
): DeclaredModel {
  const declared = declare(modelFields, id, shape);
  const found = catalogue.prices().find(declared.pricedAs ?? id, nowMs);
  const name = declared.pricedAs === null ? (found?.model.name ?? id) : id;
  return {
    id,
    ...declared,
    displayName: 'displayName' in shape ? declared.displayName : name,
    ...pricesOf(listTimeline(found, nowMs)),
  };
}
