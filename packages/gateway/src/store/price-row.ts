import type { PicoUsd } from '../core/money.ts';
import { picoUsd } from '../core/money.ts';
import type { ImagePrice, PriceClasses, PriceTier } from '../core/price.ts';

/** Tiers as the JSON of a row of `prices`: every price a decimal string, since JSON has no exact integers. */
export function encodeTiers(tiers: readonly PriceTier[]): string {
  return JSON.stringify(tiers, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

interface TierDocument {
  readonly aboveInputTokens: number;
  readonly classes: Readonly<Record<keyof PriceClasses, string>>;
  readonly images?: readonly (Omit<ImagePrice, 'price'> & { readonly price: string })[];
}

export function decodeTiers(text: string): readonly PriceTier[] {
  // The store is the only writer of this column, and `encodeTiers` is what it writes.
  const documents = JSON.parse(text) as readonly TierDocument[];
  return documents.map(({ aboveInputTokens, classes, images }) => ({
    aboveInputTokens,
    classes: decodeClasses(classes),
    ...(images === undefined ? {} : { images: decodeImages(images) }),
  }));
}

function decodeImages(images: NonNullable<TierDocument['images']>): readonly ImagePrice[] {
  return images.map((image) => ({ ...image, price: picoUsd(BigInt(image.price)) }));
}

function decodeClasses(classes: TierDocument['classes']): PriceClasses {
  const price = (name: keyof PriceClasses): PicoUsd => picoUsd(BigInt(classes[name]));
  return {
    input: price('input'),
    cacheRead: price('cacheRead'),
    cacheWrite5m: price('cacheWrite5m'),
    cacheWrite1h: price('cacheWrite1h'),
    output: price('output'),
    audioInput: price('audioInput'),
    audioOutput: price('audioOutput'),
    imageInput: price('imageInput'),
    imageOutput: price('imageOutput'),
    perImage: price('perImage'),
    perCall: price('perCall'),
  };
}

/** What callers pay for a model. */
export function modelPriceSubject(modelId: string): string {
  return `model:${modelId}`;
}

/** What a channel's upstream charges us for a model. */
export function channelPriceSubject(channelId: string, modelId: string): string {
  return `channel:${channelId}/${modelId}`;
}
