import { addUsage, noUsage, type Usage } from '../usage.ts';
import { isRecord, recordOf, tokenCount, type WireRecord } from '../wire-values.ts';

/**
 * Usage in parts that never overlap, from the wire's `usage` object. Its `input_tokens` excludes what the cache read and
 * wrote; its `output_tokens` includes thinking. Where it lists iterations, as after a compaction, the top level leaves
 * some of them out and their sum is what was used. Null when there is no count in it: then usage was not reported.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const iterations = Array.isArray(wire['iterations']) ? wire['iterations'].filter(isRecord) : [];
  const parts = iterations.map(readParts).filter((part) => part !== null);
  return parts.length === 0 ? readParts(wire) : parts.reduce(addUsage);
}

function readParts(wire: WireRecord): Usage | null {
  const input = tokenCount(wire['input_tokens']);
  const output = tokenCount(wire['output_tokens']);
  if (input === null && output === null) return null;
  const thinking = tokenCount(recordOf(wire['output_tokens_details'])['thinking_tokens']) ?? 0;
  return {
    ...noUsage,
    inputFresh: input ?? 0,
    inputCacheRead: tokenCount(wire['cache_read_input_tokens']) ?? 0,
    ...readCacheWrites(wire),
    output: output ?? 0,
    outputReasoning: Math.min(thinking, output ?? 0),
  };
}

/** What is not said to last an hour lasts five minutes. The parts never exceed the total, where there is one. */
function readCacheWrites(wire: WireRecord) {
  const split = recordOf(wire['cache_creation']);
  const write5m = tokenCount(split['ephemeral_5m_input_tokens']) ?? 0;
  const write1h = tokenCount(split['ephemeral_1h_input_tokens']) ?? 0;
  const total = tokenCount(wire['cache_creation_input_tokens']) ?? write5m + write1h;
  const inputCacheWrite1h = Math.min(write1h, total);
  return { inputCacheWrite5m: total - inputCacheWrite1h, inputCacheWrite1h };
}

/**
 * The last word of a stream on its usage: what its end says, and what its beginning said where the end is silent. Counts
 * are cumulative, so an end that knows of no input at all (some servers write zeros there) is silent about it.
 */
export function mergeUsage(first: unknown, last: unknown): WireRecord {
  const said = Object.entries(recordOf(last)).filter(([, value]) => value !== null);
  const merged = { ...recordOf(first), ...Object.fromEntries(said) };
  return hasInput(merged) ? merged : { ...merged, ...inputMembers(recordOf(first)) };
}

const inputNames = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
] as const;

function hasInput(wire: WireRecord): boolean {
  return inputNames.some((name) => (tokenCount(wire[name]) ?? 0) > 0);
}

function inputMembers(wire: WireRecord): WireRecord {
  return Object.fromEntries(inputNames.flatMap((name) => (name in wire ? [[name, wire[name]]] : [])));
}
