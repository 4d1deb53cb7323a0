import { z } from 'zod';
import { decimal } from '../catalogue/identifiers.ts';
import { readTime } from './moment.ts';

const tokens = z.int().positive();

const usd = (meaning: string) => decimal.exactOptional().describe(`USD per ${meaning}`);

const tokenPrices = {
  input: usd('million tokens of text input.'),
  cacheRead: usd(
    'million input tokens read from a prompt cache; the list price’s if left out, else the input price.',
  ),
  cacheReadAudio: usd('million audio tokens read from a prompt cache; the price of cacheRead if left out.'),
  cacheWrite5m: usd('million input tokens written to a cache for 5 minutes.'),
  cacheWrite1h: usd('million input tokens written to a cache for an hour.'),
  output: usd('million tokens of text output, reasoning included.'),
  reasoning: usd(
    'million tokens of reasoning, where it has a price of its own; the output price if left out.',
  ),
  audioInput: usd('million audio input tokens.'),
  audioOutput: usd('million audio output tokens.'),
  imageInput: usd('million image input tokens.'),
  imageOutput: usd('million image output tokens.'),
};

const fees = {
  citation: usd('million tokens of sources that are counted apart from input.'),
  perImage: usd('image made.'),
  perCall: usd('call.'),
  perWebSearch: usd('search of the web by the provider.'),
  perFileSearch: usd('search of files by the provider.'),
  perCodeSession: usd('container that the provider ran code in.'),
  perGrounding: usd('answer that is grounded on searches of the provider, however many.'),
  perPage: usd('page of a document that was read by sight.'),
};

const priceClasses = { ...tokenPrices, ...fees };

const imageWord = z.string().min(1).max(32);
const termWord = z.string().regex(/^[\w.-]{1,32}$/, 'must be one word, as the wire spells it');

const contextTiers = (meaning: string) =>
  z
    .array(
      z.strictObject({
        aboveInputTokens: tokens.describe('Tokens of input, cached ones included.'),
        ...priceClasses,
      }),
    )
    .exactOptional()
    .describe(meaning);

const moment = z
  .string('must be a day such as 2026-12-01, or a time such as 2026-12-01T00:00:00+08:00')
  .refine(
    (text) => readTime(text) !== null,
    'must be a day such as 2026-12-01, or a time such as 2026-12-01T00:00:00+08:00',
  );

/** A price, as it is written for one moment. */
export const priceEntry = z.strictObject({
  from: moment
    .exactOptional()
    .describe(
      'When it begins: a day, which begins at midnight UTC, or a time with its offset. Until then the price before it in a list holds, or the list price; it has always been so if left out.',
    ),
  ...priceClasses,
  whole: z
    .boolean()
    .exactOptional()
    .describe(
      'Takes nothing from the list price: what is left out follows from what is there. False if left out, but true of a price with perImage or images.',
    ),
  tiers: contextTiers('Prices of the whole call once its total input exceeds a number of tokens.'),
  services: z
    .record(
      termWord,
      z.strictObject({ ...priceClasses, tiers: contextTiers('As above, for this service tier.') }),
    )
    .exactOptional()
    .describe(
      'Prices of other service tiers than the standard one, by name: priority, flex, batch, fast, or as the provider calls it. Each has prices of its own for tokens; fees are the standard ones where left out.',
    ),
  searches: z
    .array(
      z.strictObject({
        context: termWord.describe('low, medium or high.'),
        perCall: fees.perCall,
        perWebSearch: fees.perWebSearch,
      }),
    )
    .min(1)
    .exactOptional()
    .describe('Fees by the size of the search context; the first holds where none is named.'),
  regions: z
    .record(termWord, decimal)
    .exactOptional()
    .describe(
      'What tokens cost where a call names a region, of their price elsewhere: us: 1.1 is a tenth more.',
    ),
  images: z
    .array(
      z.strictObject({
        size: imageWord.exactOptional().describe('Such as 1024x1024; any if left out.'),
        quality: imageWord.exactOptional().describe('Such as high; any if left out.'),
        price: decimal.describe('USD per image made.'),
      }),
    )
    .exactOptional()
    .describe(
      'Prices of images by size and quality, as the answer or else the request states them; the first that fits holds, or else perImage.',
    ),
});

/** A price, or several with the moments from which they hold. */
export const writtenPrices = z.union(
  [priceEntry, z.array(priceEntry).min(1).max(100)],
  'must be a price, or a list of prices, each with the moment from which it holds',
);

export type PriceShape = z.infer<typeof priceEntry>;
export type WrittenPrice = z.infer<typeof writtenPrices>;
