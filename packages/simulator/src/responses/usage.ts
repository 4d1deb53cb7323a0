import type { SimulatedUsage } from '../answer/answer.ts';

/** The usage object with every member the protocol has, zeros included. Its input includes what the cache did. */
export function encodeUsage(usage: SimulatedUsage) {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: {
      cached_tokens: usage.cached,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
    },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.prompt + usage.completion,
  };
}
