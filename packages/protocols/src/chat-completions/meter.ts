import type { Dialect } from '../protocol.ts';
import { noUsage, type Usage } from '../usage.ts';

/** No call uses more; a larger count is a defect of the upstream and not a count. */
const tokensMax = 1_000_000_000;

/**
 * Usage in parts that never overlap, from the wire's `usage` object. Input parts always add up to the prompt's tokens
 * and output parts to the completion's, however the upstream's details contradict each other. Null when there is no
 * count in it: then usage was not reported.
 */
export function readUsage(wire: unknown, dialect: Dialect): Usage | null {
  if (!isRecord(wire)) return null;
  const total = count(wire['total_tokens']);
  const prompt = count(wire['prompt_tokens']) ?? difference(total, count(wire['completion_tokens']));
  const completion = count(wire['completion_tokens']) ?? difference(total, prompt);
  if (prompt === null && completion === null) return null;
  return {
    ...noUsage,
    ...readInput(wire, prompt ?? 0),
    ...readOutput(wire, completion ?? 0, outsideReasoning(wire, prompt, completion, total, dialect)),
  };
}

function readInput(wire: Readonly<Record<string, unknown>>, prompt: number) {
  const details = record(wire['prompt_tokens_details']);
  const rest = new Remainder(prompt);
  const inputCacheRead = rest.take(count(details['cached_tokens']) ?? count(wire['prompt_cache_hit_tokens']));
  const inputCacheWrite5m = rest.take(count(details['cache_write_tokens']));
  const inputAudio = rest.take(count(details['audio_tokens']));
  const inputImage = rest.take(count(details['image_tokens']));
  return { inputFresh: rest.left, inputCacheRead, inputCacheWrite5m, inputAudio, inputImage };
}

function readOutput(wire: Readonly<Record<string, unknown>>, completion: number, outside: number) {
  const details = record(wire['completion_tokens_details']);
  const rest = new Remainder(completion + outside);
  const outputAudio = rest.take(count(details['audio_tokens']));
  const outputImage = rest.take(count(details['image_tokens']));
  const outputReasoning = Math.min(outside > 0 ? outside : reasoningTokens(wire), rest.left);
  return { output: rest.left, outputReasoning, outputAudio, outputImage };
}

/** Reasoning that `completion_tokens` leaves out: as reported, or else what the total has beyond its two parts. */
function outsideReasoning(
  wire: Readonly<Record<string, unknown>>,
  prompt: number | null,
  completion: number | null,
  total: number | null,
  dialect: Dialect,
): number {
  if (!dialect.reasoningOutsideCompletion) return 0;
  return reasoningTokens(wire) || difference(total, (prompt ?? 0) + (completion ?? 0)) || 0;
}

function reasoningTokens(wire: Readonly<Record<string, unknown>>): number {
  const details = record(wire['completion_tokens_details']);
  return count(details['reasoning_tokens']) ?? count(wire['reasoning_tokens']) ?? 0;
}

/** Hands out parts of a sum, never more than is left of it. */
class Remainder {
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

/** A sane count of tokens, whole; null for anything else. */
function count(value: unknown): number | null {
  if (typeof value !== 'number' || !(value >= 0) || value > tokensMax) return null;
  // JSON has a negative zero.
  return Math.abs(Math.round(value));
}

function difference(total: number | null, part: number | null): number | null {
  return total !== null && part !== null && total >= part ? total - part : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
