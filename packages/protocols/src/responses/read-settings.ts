import type { TurnNotes } from '../translate/notes.ts';
import type {
  OutputFormat,
  ReasoningEffort,
  ReasoningSetting,
  Turn,
  TurnSettingName,
  TurnSettings,
} from '../turn.ts';
import { booleanOf, isRecord, listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';

/** How this protocol spells its settings, where it is not as in the canonical form. */
const spelling = {
  maxOutputTokens: 'max_output_tokens',
  topP: 'top_p',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logprobs: 'top_logprobs',
  parallelToolCalls: 'parallel_tool_calls',
  outputFormat: 'text.format',
  verbosity: 'text.verbosity',
  user: 'safety_identifier',
  serviceTier: 'service_tier',
  promptCacheKey: 'prompt_cache_key',
} as const satisfies Partial<Record<TurnSettingName, string>>;

/** Some settings can be made in two ways. */
export function spellingIn(body: WireRecord): Turn['spelling'] {
  const isSafetyId = stringOf(body['safety_identifier']) !== null;
  const isCounted = (body['top_logprobs'] ?? null) !== null;
  return {
    ...spelling,
    user: isSafetyId ? spelling.user : 'user',
    logprobs: isCounted ? spelling.logprobs : 'include',
  };
}

export function readSettings(body: WireRecord, notes: TurnNotes): TurnSettings {
  const text = memberRecord(body, 'text', notes);
  return {
    maxOutputTokens: numberAt(body, 'max_output_tokens', notes),
    temperature: numberAt(body, 'temperature', notes),
    topP: numberAt(body, 'top_p', notes),
    topK: null,
    stop: null,
    seed: null,
    presencePenalty: numberAt(body, 'presence_penalty', notes),
    frequencyPenalty: numberAt(body, 'frequency_penalty', notes),
    logprobs: readLogprobs(body, notes),
    choices: null,
    parallelToolCalls: booleanOf(body['parallel_tool_calls']),
    reasoning: readReasoning(memberRecord(body, 'reasoning', notes), notes),
    outputFormat: readFormat(recordOf(text['format']), notes),
    verbosity: readVerbosity(text['verbosity'], notes),
    user: stringOf(body['safety_identifier']) ?? stringOf(body['user']),
    serviceTier: readServiceTier(body['service_tier'], notes),
    promptCacheKey: stringOf(body['prompt_cache_key']),
    metadata: readMetadata(memberRecord(body, 'metadata', notes)),
  };
}

/** A member that is an object; an empty one when it is absent or null. */
function memberRecord(body: WireRecord, name: string, notes: TurnNotes): WireRecord {
  const value = body[name] ?? null;
  if (value !== null && !isRecord(value)) notes.blame(name, `'${name}' must be an object.`);
  return recordOf(value);
}

function numberAt(body: WireRecord, name: string, notes: TurnNotes): number | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === 'number') return value;
  notes.blame(name, `'${name}' must be a number.`);
  return null;
}

/** They come when they are included; a number of alternatives alone brings none. */
function readLogprobs(body: WireRecord, notes: TurnNotes): number | null {
  const alternatives = numberAt(body, 'top_logprobs', notes);
  const isIncluded = listOf(body['include']).includes('message.output_text.logprobs');
  if (isIncluded) return alternatives ?? 0;
  return alternatives === 0 ? null : alternatives;
}

const efforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

function isEffort(value: unknown): value is ReasoningEffort {
  return typeof value === 'string' && efforts.includes(value);
}

function readReasoning(reasoning: WireRecord, notes: TurnNotes): ReasoningSetting | null {
  const effort = reasoning['effort'] ?? null;
  const summary = reasoning['summary'] ?? reasoning['generate_summary'] ?? null;
  for (const name of ['context', 'mode'])
    if ((reasoning[name] ?? null) !== null) notes.lose(`reasoning.${name}`);
  if (effort !== null && !isEffort(effort))
    notes.blame('reasoning.effort', `'reasoning.effort' must be one of ${efforts.join(', ')}.`);
  if (effort === null && summary === null) return null;
  const shown = summary === null ? null : summary !== 'none';
  return { effort: isEffort(effort) ? effort : null, budgetTokens: null, shown };
}

function readFormat(format: WireRecord, notes: TurnNotes): OutputFormat | null {
  switch (format['type']) {
    case undefined:
      return null;
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return readSchemaFormat(format, notes);
    default:
      notes.blame('text.format.type', "'text.format.type' must be 'text', 'json_object' or 'json_schema'.");
      return null;
  }
}

function readSchemaFormat(format: WireRecord, notes: TurnNotes): OutputFormat | null {
  const { schema } = format;
  if (!isRecord(schema)) {
    notes.blame('text.format.schema', "'text.format.schema' must be a JSON Schema.");
    return null;
  }
  return {
    kind: 'json-schema',
    name: stringOf(format['name']),
    description: stringOf(format['description']),
    schema,
    strict: booleanOf(format['strict']),
  };
}

function readVerbosity(value: unknown, notes: TurnNotes): TurnSettings['verbosity'] {
  if (value === 'low' || value === 'medium' || value === 'high') return value;
  if ((value ?? null) !== null) notes.lose(spelling.verbosity);
  return null;
}

function readServiceTier(value: unknown, notes: TurnNotes): TurnSettings['serviceTier'] {
  if (value === 'auto' || value === 'default' || value === 'flex' || value === 'priority') return value;
  if ((value ?? null) !== null) notes.lose(spelling.serviceTier);
  return null;
}

function readMetadata(metadata: WireRecord): TurnSettings['metadata'] {
  const pairs = Object.entries(metadata).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

/** Members that are read above, or say nothing that an answer depends on. */
const understood: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'presence_penalty',
  'frequency_penalty',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'user',
  'safety_identifier',
  'service_tier',
  'prompt_cache_key',
  'metadata',
  'include',
]);

/** Members without which the answer would be another one. Everything else that is not understood is a hint. */
const essential: ReadonlySet<string> = new Set([
  'previous_response_id',
  'conversation',
  'prompt',
  'background',
]);

/** Values that ask for what happens anyway. */
const asksNothing: Readonly<Record<string, unknown>> = {
  background: false,
  store: false,
  truncation: 'disabled',
};

/** Notes the members that only this protocol has. */
export function noteExtensions(body: WireRecord, notes: TurnNotes, word: (name: string) => string): void {
  for (const [name, value] of Object.entries(body)) {
    if (understood.has(name) || value === null) continue;
    if (Object.hasOwn(asksNothing, name) && value === asksNothing[name]) continue;
    if (essential.has(name)) notes.insist(name);
    else notes.lose(word(name));
  }
  const included = listOf(body['include']).filter(
    (name) => name !== 'reasoning.encrypted_content' && name !== 'message.output_text.logprobs',
  );
  if (included.length > 0) notes.lose('include');
}
