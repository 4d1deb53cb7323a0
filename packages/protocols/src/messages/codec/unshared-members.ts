import type { TurnNotes } from '../../translate/turn-notes.ts';
import { listOf, type WireRecord } from '../../wire-values.ts';

/** Members that the canonical form has a place for. */
const shared: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'thinking',
  'output_config',
  'output_format',
  'tools',
  'tool_choice',
  'metadata',
  'service_tier',
]);

/** Members without which the answer would not be what was asked for: places to work in, tools elsewhere, where data may go. */
const binding: ReadonlySet<string> = new Set(['container', 'mcp_servers', 'inference_geo']);

/** Notes the members of a request that only this protocol has, of days to come too. */
export function noteMembers(wire: WireRecord, notes: TurnNotes): void {
  for (const [name, value] of Object.entries(wire)) {
    if (shared.has(name) || isNothing(value)) continue;
    if (binding.has(name)) notes.insist(name);
    else notes.lose(name);
  }
}

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && listOf(value).length === 0);
}
