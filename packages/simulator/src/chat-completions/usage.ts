import type { SimulatedUsage } from '../answer/answer.ts';

/** The usage object with every member the protocol has, zeros included. */
export function encodeUsage(usage: SimulatedUsage) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      audio_tokens: 0,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
