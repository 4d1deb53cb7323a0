import type { ImageAsk, ImageQuality } from './ask.ts';

const pixelsPerToken: Readonly<Record<ImageQuality, number>> = { low: 4_096, medium: 1_024, high: 256 };

/** Output tokens of one image: 256, 1,024 or 4,096 for 1024x1024 in low, medium or high quality. */
export function imageTokens({ widthPixels, heightPixels, quality }: ImageAsk): number {
  return Math.ceil((widthPixels * heightPixels) / pixelsPerToken[quality]);
}
