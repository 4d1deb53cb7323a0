import { Remainder } from '../remainder.ts';
import { noUsage, type Usage } from '../usage.ts';
import { isRecord, recordOf, tokenCount, type WireRecord } from '../wire-values.ts';

/**
 * Usage in parts that never overlap, from the wire's `usage` object. Its input includes what the cache read and wrote, its
 * output the reasoning; the parts always add up to them, however the details contradict them. Null when there is no count
 * in it: then usage was not reported.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const input = tokenCount(wire['input_tokens']);
  const output = tokenCount(wire['output_tokens']);
  if (input === null && output === null) return null;
  return { ...noUsage, ...readInput(wire, input ?? 0), ...readOutput(wire, output ?? 0) };
}

function readInput(wire: WireRecord, input: number) {
  const details = recordOf(wire['input_tokens_details']);
  const rest = new Remainder(input);
  const inputCacheRead = rest.take(tokenCount(details['cached_tokens']));
  const inputCacheWrite5m = rest.take(tokenCount(details['cache_write_tokens']));
  const inputAudio = rest.take(tokenCount(details['audio_tokens']));
  const inputImage = rest.take(tokenCount(details['image_tokens']));
  return { inputFresh: rest.left, inputCacheRead, inputCacheWrite5m, inputAudio, inputImage };
}

function readOutput(wire: WireRecord, total: number) {
  const details = recordOf(wire['output_tokens_details']);
  const rest = new Remainder(total);
  const outputAudio = rest.take(tokenCount(details['audio_tokens']));
  const outputImage = rest.take(tokenCount(details['image_tokens']));
  const outputReasoning = Math.min(tokenCount(details['reasoning_tokens']) ?? 0, rest.left);
  return { output: rest.left, outputReasoning, outputAudio, outputImage };
}
