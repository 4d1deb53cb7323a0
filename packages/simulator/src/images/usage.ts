import type { ImageAsk } from '../answer/ask.ts';

/** The usage object with every member the protocol has. `input` includes the tokens of the images sent. */
export function encodeUsage({ promptImageTokens }: ImageAsk, input: number, output: number) {
  const inputImages = Math.min(promptImageTokens, input);
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - inputImages, image_tokens: inputImages },
    output_tokens: output,
    output_tokens_details: { image_tokens: output, text_tokens: 0 },
    total_tokens: input + output,
  };
}
