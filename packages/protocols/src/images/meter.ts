import { noUsage, type Usage } from '../usage.ts';
import { isRecord, recordOf, tokenCount } from '../wire-values.ts';

/**
 * Tokens in parts that never overlap, from the wire's `usage` object; `images` stays 0. Its totals include all their
 * parts. Output that is not said to be text is that of images: older models do not split it. Null when there is no
 * count in it.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const input = tokenCount(wire['input_tokens']);
  const output = tokenCount(wire['output_tokens']);
  if (input === null && output === null) return null;
  const inputImage = tokenCount(recordOf(wire['input_tokens_details'])['image_tokens']) ?? 0;
  const outputText = readOutputText(wire['output_tokens_details'], output ?? 0);
  return {
    ...noUsage,
    inputFresh: Math.max(0, (input ?? 0) - inputImage),
    inputImage: Math.min(inputImage, input ?? inputImage),
    output: outputText,
    outputImage: (output ?? 0) - outputText,
  };
}

function readOutputText(wire: unknown, output: number): number {
  const details = recordOf(wire);
  const image = tokenCount(details['image_tokens']);
  const text = tokenCount(details['text_tokens']) ?? (image === null ? 0 : output - image);
  return Math.min(Math.max(0, text), output);
}

/**
 * Adds up a stream with several images, each of which states its own output and the whole prompt: outputs add up, and the
 * prompt was read once.
 */
export function addImageUsage(before: Usage | null, next: Usage | null): Usage | null {
  if (before === null || next === null) return next ?? before;
  return {
    ...next,
    output: before.output + next.output,
    outputImage: before.outputImage + next.outputImage,
  };
}
