import type { SimulatedUsage } from '../answer/answer.ts';

/** The usage object with every member the protocol has, zeros included. Its input excludes what the cache did. */
export function encodeUsage({
  prompt,
  cached,
  cacheWrite,
  cacheWrite1h,
  completion,
  reasoning,
}: SimulatedUsage) {
  return {
    input_tokens: prompt - cached - cacheWrite - cacheWrite1h,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: completion,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: 'standard',
  };
}
