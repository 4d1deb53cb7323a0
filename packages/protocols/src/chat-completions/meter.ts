import type { Dialect } from '../request.ts';
import { readFees, readInputParts, readOutputParts, type Usage } from '../usage.ts';
import { isRecord, recordOf, tokenCount, type WireRecord } from '../wire-values.ts';

/**
 * Usage in parts that never overlap, from the wire's `usage` object. Input parts always add up to the prompt's tokens
 * and output parts to the completion's, however the upstream's details contradict each other. Null when there is no
 * count in it: then usage was not reported.
 */
export function readUsage(wire: unknown, dialect: Dialect): Usage | null {
  if (!isRecord(wire)) return null;
  const total = tokenCount(wire['total_tokens']);
  const prompt =
    tokenCount(wire['prompt_tokens']) ?? difference(total, tokenCount(wire['completion_tokens']));
  const completion = tokenCount(wire['completion_tokens']) ?? difference(total, prompt);
  if (prompt === null && completion === null) return null;
  const outside = outsideReasoning(wire, prompt, completion, total, dialect);
  const reasoning = outside > 0 ? outside : reasoningTokens(wire);
  return {
    ...readFees(wire),
    ...readInputParts(prompt ?? 0, wire['prompt_tokens_details'], wire['prompt_cache_hit_tokens']),
    ...readOutputParts((completion ?? 0) + outside, wire['completion_tokens_details'], reasoning),
  };
}

/** Reasoning that `completion_tokens` leaves out: as reported, or else what the total has beyond its two parts. */
function outsideReasoning(
  wire: WireRecord,
  prompt: number | null,
  completion: number | null,
  total: number | null,
  dialect: Dialect,
): number {
  if (!dialect.reasoningOutsideCompletion) return 0;
  return reasoningTokens(wire) || difference(total, (prompt ?? 0) + (completion ?? 0)) || 0;
}

function reasoningTokens(wire: WireRecord): number {
  const details = recordOf(wire['completion_tokens_details']);
  return tokenCount(details['reasoning_tokens']) ?? tokenCount(wire['reasoning_tokens']) ?? 0;
}

function difference(total: number | null, part: number | null): number | null {
  return total !== null && part !== null && total >= part ? total - part : null;
}
