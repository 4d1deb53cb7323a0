/**
 * What one call used, in tokens (`images`: pieces). The parts never overlap, but for images beside their
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
  /** Of `output`: the tokens spent on reasoning. */
  readonly outputReasoning: number;
  readonly outputAudio: number;
  readonly outputImage: number;
  /** Pieces, counted beside their tokens: a price is for the one or for the other. */
  readonly images: number;
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
