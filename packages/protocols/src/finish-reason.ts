/** Why the model stopped, unified, beside the upstream's own word. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'error'
  | 'unknown';

/** The words servers use for why they stopped: those of every protocol, since compatible ones mix them. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['completed', 'stop'],
  ['compaction', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['refusal', 'refusal'],
  ['error', 'error'],
  ['insufficient_system_resource', 'error'],
]);

export function readFinishReason(raw: string): FinishReason {
  return finishReasons.get(raw.toLowerCase()) ?? 'unknown';
}
