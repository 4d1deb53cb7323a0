import type { PriceShape } from '../../config/configuration-schema.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import type { PriceTier } from '../../core/price.ts';
import {
  type ImagePriceText,
  type PriceClass,
  type PriceTierText,
  priceClassNames,
  readPriceTiers,
} from '../../core/price-terms.ts';
import { complain, type Declaring } from './declaring.ts';

/** Reads a price from the file's own text, so that no digit passes through a float. Null, with a complaint, when it is wrong. */
export function declarePrice(
  declaring: Declaring,
  shape: PriceShape,
  path: YamlPath,
): readonly PriceTier[] | null {
  if (shape.images === undefined && !priceClassNames.some((name) => shape[name] !== undefined)) {
    complain(declaring, path, 'gives no price; write at least input and output');
    return null;
  }
  const places: YamlPath[] = [path, ...(shape.tiers ?? []).map((_, index) => [...path, 'tiers', index])];
  const thresholds = [0, ...(shape.tiers ?? []).map((tier) => tier.aboveInputTokens)];
  if (new Set(thresholds).size < thresholds.length)
    complain(declaring, [...path, 'tiers'], 'has two tiers that begin at the same size');
  const [base, ...further] = places.map((place, index) => tierText(declaring, place, thresholds[index] ?? 0));
  if (base === undefined) throw new Error('a price has a first tier');
  const read = readPriceTiers([{ ...base, images: imageTexts(declaring, shape, path) }, ...further]);
  if (read.ok) return read.value;
  const { tier, path: within, reason } = read.error;
  complain(declaring, [...(places[tier] ?? path), ...within], reason);
  return null;
}

function imageTexts({ file }: Declaring, { images }: PriceShape, path: YamlPath): readonly ImagePriceText[] {
  return (images ?? []).map(({ price: _, ...kind }, index) => ({
    ...kind,
    price: file.source.exactText([...path, 'images', index, 'price']) ?? '',
  }));
}

function tierText({ file }: Declaring, place: YamlPath, aboveInputTokens: number): PriceTierText {
  const written = priceClassNames.flatMap((name): [PriceClass, string][] => {
    const text = file.source.exactText([...place, name]);
    return text === null ? [] : [[name, text]];
  });
  return { aboveInputTokens, prices: Object.fromEntries(written) };
}
