import { totalInput, type Usage } from '../../usage.ts';

/** The usage object: its input includes what a cache read and wrote, its output the reasoning. Both details are always there. */
export function writeUsage(usage: Usage | null): object | null {
  if (usage === null) return null;
  const input = totalInput(usage);
  const output = usage.output + usage.outputAudio + usage.outputImage;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.outputReasoning },
    total_tokens: input + output,
  };
}
