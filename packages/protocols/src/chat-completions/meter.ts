import type { Dialect } from '../request.ts';
import { noUsage, Remainder, type Usage } from '../usage.ts';
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
  return {
    ...noUsage,
    ...readInput(wire, prompt ?? 0),
    ...readOutput(wire, completion ?? 0, outsideReasoning(wire, prompt, completion, total, dialect)),
  };
}

function readInput(wire: WireRecord, prompt: number) {
  const details = recordOf(wire['prompt_tokens_details']);
  const rest = new Remainder(prompt);
  const inputCacheRead = rest.take(
    tokenCount(details['cached_tokens']) ?? tokenCount(wire['prompt_cache_hit_tokens']),
  );
  const inputCacheWrite5m = rest.take(tokenCount(details['cache_write_tokens']));
  const inputAudio = rest.take(tokenCount(details['audio_tokens']));
  const inputImage = rest.take(tokenCount(details['image_tokens']));
  return { inputFresh: rest.left, inputCacheRead, inputCacheWrite5m, inputAudio, inputImage };
}

function readOutput(wire: WireRecord, completion: number, outside: number) {
  const details = recordOf(wire['completion_tokens_details']);
  const rest = new Remainder(completion + outside);
  const outputAudio = rest.take(tokenCount(details['audio_tokens']));
  const outputImage = rest.take(tokenCount(details['image_tokens']));
  const outputReasoning = Math.min(outside > 0 ? outside : reasoningTokens(wire), rest.left);
  return { output: rest.left, outputReasoning, outputAudio, outputImage };
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
