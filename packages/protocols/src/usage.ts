import { recordOf, tokenCount } from './wire-values.ts';

/**
 * The consumption of one call, in tokens (`images`: pieces). The parts never overlap, but for images beside their
 * tokens, so a price is a plain sum over them; `outputReasoning` alone is informational and already contained in `output`.
 */
export interface Usage {
  /** Text input that was neither read from nor written to a prompt cache. */
  readonly inputFresh: number;
  readonly inputCacheRead: number;
  readonly inputCacheWrite5m: number;
  readonly inputCacheWrite1h: number;
  readonly inputAudio: number;
  readonly inputImage: number;
  /** Text output, reasoning included. */
  readonly output: number;
  /** The tokens of `output` that were spent on reasoning. */
  readonly outputReasoning: number;
  readonly outputAudio: number;
  readonly outputImage: number;
  /** Pieces, counted beside their tokens: a price is for the one or for the other. */
  readonly images: number;
}

/** The share of one answer that one model had in it: vendors ask several for some, each by a request of its own. */
export interface Iteration {
  /** As the upstream names it; null where it names none, and the answer's own model is meant. */
  readonly model: string | null;
  readonly usage: Usage;
}

export const noUsage: Usage = {
  inputFresh: 0,
  inputCacheRead: 0,
  inputCacheWrite5m: 0,
  inputCacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  outputReasoning: 0,
  outputAudio: 0,
  outputImage: 0,
  images: 0,
};

/** Tokens on the input side, whatever their class. Context tiers are chosen by this sum. */
export function totalInput(usage: Usage): number {
  return (
    usage.inputFresh +
    usage.inputCacheRead +
    usage.inputCacheWrite5m +
    usage.inputCacheWrite1h +
    usage.inputAudio +
    usage.inputImage
  );
}

/** Tokens and pieces on the output side, whatever their class. */
export function totalOutput(usage: Usage): number {
  return usage.output + usage.outputAudio + usage.outputImage + usage.images;
}

/** Both together, part by part. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputFresh: a.inputFresh + b.inputFresh,
    inputCacheRead: a.inputCacheRead + b.inputCacheRead,
    inputCacheWrite5m: a.inputCacheWrite5m + b.inputCacheWrite5m,
    inputCacheWrite1h: a.inputCacheWrite1h + b.inputCacheWrite1h,
    inputAudio: a.inputAudio + b.inputAudio,
    inputImage: a.inputImage + b.inputImage,
    output: a.output + b.output,
    outputReasoning: a.outputReasoning + b.outputReasoning,
    outputAudio: a.outputAudio + b.outputAudio,
    outputImage: a.outputImage + b.outputImage,
    images: a.images + b.images,
  };
}

/** The words that the price of one image goes by, as the wire spells them; null where nothing was said. */
export interface ImageKind {
  readonly size: string | null;
  readonly quality: string | null;
}

export const noImageKind: ImageKind = { size: null, quality: null };

const wordCharsMax = 32;

/** One word of a kind, as it will be stored; null for anything else. */
export function kindWord(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= wordCharsMax ? value : null;
}

/** Takes the answer's word for its images, or else the request's. */
export function mergeImageKinds(said: ImageKind, asked: ImageKind): ImageKind {
  return { size: said.size ?? asked.size, quality: said.quality ?? asked.quality };
}

/** Images of one answer, in pieces. */
export interface ImageCount {
  readonly finished: number;
  /** Drafts of an image that is not finished: no usage covers them. */
  readonly drafts: number;
  /** As the answer states it. */
  readonly kind: ImageKind;
}

/**
 * The parts of input and output as chat and responses detail them; together they are never more than the sums, however the
 * details contradict those. `cached` and `reasoning`: where they are not told among the details.
 */
export function readInputParts(input: number, wire: unknown, cached: unknown = null) {
  const details = recordOf(wire);
  const rest = new Remainder(input);
  const inputCacheRead = rest.take(tokenCount(details['cached_tokens']) ?? tokenCount(cached));
  const inputCacheWrite5m = rest.take(tokenCount(details['cache_write_tokens']));
  const inputAudio = rest.take(tokenCount(details['audio_tokens']));
  const inputImage = rest.take(tokenCount(details['image_tokens']));
  return { inputFresh: rest.left, inputCacheRead, inputCacheWrite5m, inputAudio, inputImage };
}

export function readOutputParts(total: number, wire: unknown, reasoning: number | null) {
  const details = recordOf(wire);
  const rest = new Remainder(total);
  const outputAudio = rest.take(tokenCount(details['audio_tokens']));
  const outputImage = rest.take(tokenCount(details['image_tokens']));
  return {
    output: rest.left,
    outputReasoning: Math.min(reasoning ?? 0, rest.left),
    outputAudio,
    outputImage,
  };
}

/** Hands out parts of a sum, never more than is left of it. */
export class Remainder {
  left: number;

  constructor(sum: number) {
    this.left = sum;
  }

  take(part: number | null): number {
    const taken = Math.min(part ?? 0, this.left);
    this.left -= taken;
    return taken;
  }
}
