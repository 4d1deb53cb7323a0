import { Buffer } from 'node:buffer';
import type { ImageAsk } from '../answer/ask.ts';
import type { Rendering } from '../protocol.ts';
import { encodePng } from './png.ts';

/** The ask of this protocol's own requests, which `readAsk` never leaves out. */
export function imageAskOf({ ask }: Rendering): ImageAsk {
  if (ask.image === undefined) throw new Error('images was asked for a text');
  return ask.image;
}

/** How the images look, as the members that say so in an answer and in every event. */
export function lookOf(image: ImageAsk) {
  return {
    size: `${image.widthPixels}x${image.heightPixels}`,
    quality: image.quality,
    background: image.background,
    output_format: image.outputFormat,
  };
}

/** One image in base64: a plane of a colour that follows from the prompt, the image's number and its draft's. */
export function pictureOf(rendering: Rendering, choice: number, draft: number): string {
  const image = imageAskOf(rendering);
  const colour = hashOf(`${rendering.ask.model} ${rendering.ask.lastText} ${choice} ${draft}`);
  return Buffer.from(encodePng(image, colour)).toString('base64');
}

/** FNV-1a, 32 bits: any spread of colours will do, as long as it is the same every time. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
