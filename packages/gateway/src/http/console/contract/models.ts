import { z } from 'zod';
import { modelId } from '../../../catalogue/identifiers.ts';
import { writtenPrices } from '../../../config/price-shape.ts';
import { pageMembers, pageOf, textOf, timeText, usdText } from './common.ts';

const plainPrice = z.strictObject({ input: usdText, output: usdText });
const range = z.strictObject({ least: usdText, most: usdText });

/** A public model in a list. Prices in USD per million tokens. */
export const modelItem = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    channels: z.array(z.string()),
    offered: z.boolean().meta({ description: 'False where callers are told that there is no such model.' }),
    price: plainPrice.nullable(),
    since: timeText.nullable(),
    from: z.string().meta({ description: 'Who says the price, and as of when.' }),
    planned: z.int().meta({ description: 'Prices that begin later.' }),
    tiers: z.int().meta({ description: 'Rows of its price: by context, by service tier.' }),
    cost: z.strictObject({ input: range, output: range }).nullable(),
    margin: z
      .strictObject({ least: z.number(), most: z.number() })
      .nullable()
      .meta({ description: 'Per cent that stay of three tokens of input and one of output.' }),
    contextWindow: z.int().nullable(),
  })
  .meta({ id: 'ModelItem' });
export type ModelItem = z.infer<typeof modelItem>;

export const modelPage = z
  .strictObject({ ...pageOf(modelItem).shape, unpriced: z.int() })
  .meta({ id: 'ModelPage' });
export type ModelPage = z.infer<typeof modelPage>;

export const modelQuery = z.strictObject({
  ...pageMembers,
  search: textOf(200).exactOptional(),
  unpriced: z.enum(['true']).exactOptional(),
});

const priceText = z.strictObject({
  aboveInputTokens: z.int(),
  service: z.string().exactOptional(),
  prices: z.record(z.string(), z.string()),
  images: z.unknown().exactOptional(),
  searches: z.unknown().exactOptional(),
  regions: z.unknown().exactOptional(),
});

const versionMembers = {
  version: z.string().nullable(),
  since: timeText.nullable(),
  writtenAt: timeText.nullable(),
  source: z.string().nullable(),
  origin: z
    .strictObject({
      by: z.string(),
      list: z.string().nullable(),
      asOf: z.string().nullable(),
      own: z.unknown().exactOptional(),
    })
    .nullable(),
  tiers: z.array(priceText).nullable(),
};
const historyMembers = {
  ...versionMembers,
  planned: z.array(z.strictObject({ from: timeText, ...versionMembers })),
  history: z.array(z.strictObject(versionMembers)),
};

/** All that is known of the price of a model, and what it costs on each channel. */
export const modelView = z
  .strictObject({
    model: z.string(),
    offered: z.boolean(),
    ...historyMembers,
    costs: z.array(z.strictObject({ channel: z.string(), upstreamModel: z.string(), ...historyMembers })),
    listPrice: z
      .strictObject({
        list: z.string(),
        asOf: z.string(),
        tiers: z.array(priceText),
        disputed: z.unknown().exactOptional(),
      })
      .nullable()
      .meta({ description: 'As the catalogue lists it.' }),
  })
  .meta({ id: 'ModelView' });
export type ModelView = z.infer<typeof modelView>;

/** Prices to set: of models, and what they cost on channels; as in the configuration file. */
export const priceDraft = z
  .strictObject({
    prices: z.record(modelId, writtenPrices).exactOptional(),
    costs: z.record(z.string(), z.record(modelId, writtenPrices)).exactOptional(),
  })
  .meta({ id: 'PriceDraft' });

export const priceQuery = z.strictObject({
  preview: z.enum(['true']).exactOptional().meta({ description: 'Changes nothing, and says what would.' }),
});

export const priceUpload = z
  .strictObject({
    name: textOf(200).meta({ description: 'Its ending says how it is read: .yaml, .yml, .json or .csv.' }),
    text: z.string().max(3_000_000, 'must be of 3,000,000 characters at the most'),
  })
  .meta({ id: 'PriceUpload' });

export const priceRemoval = z
  .strictObject({
    model: textOf(200),
    channel: textOf(64).exactOptional(),
    planned: z.boolean().exactOptional(),
  })
  .meta({ id: 'PriceRemoval' });

export const listWish = z
  .strictObject({ models: z.array(textOf(200)).min(1).max(200) })
  .meta({ id: 'ListWish' });

export const changesView = z
  .strictObject({
    items: z.array(
      z.strictObject({
        subject: z.string(),
        from: timeText.nullable(),
        what: z.string(),
        before: z.string().nullable(),
        after: z.string().nullable(),
      }),
    ),
    next: z.null(),
  })
  .meta({ id: 'ChangesView' });
export type ChangesView = z.infer<typeof changesView>;

export const differencePage = z
  .strictObject({
    items: z.array(
      z.strictObject({
        model: z.string(),
        what: z.string(),
        inForce: z.string().nullable(),
        inForceBy: z.string(),
        other: z.string().nullable(),
        otherBy: z.string(),
        applies: z.boolean(),
      }),
    ),
    next: z.null(),
  })
  .meta({ id: 'DifferencePage' });
export type DifferencePage = z.infer<typeof differencePage>;
