import type { TurnNotes } from '../translate/notes.ts';
import type {
  OutputFormat,
  ReasoningEffort,
  ReasoningSetting,
  Turn,
  TurnSettingName,
  TurnSettings,
} from '../turn.ts';
import { booleanOf, isRecord, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { chatSurface } from './wire.ts';

export type Spelling = Turn['spelling'];

/** Reads everything that a request sets beside its conversation. */
export function readSettings(body: WireRecord, notes: TurnNotes): TurnSettings {
  return {
    maxOutputTokens: readNumber(body, limitMember(body), notes),
    temperature: readNumber(body, 'temperature', notes),
    topP: readNumber(body, 'top_p', notes),
    topK: readNumber(body, 'top_k', notes),
    stop: readStop(body['stop'], notes),
    seed: readNumber(body, 'seed', notes),
    presencePenalty: readNumber(body, 'presence_penalty', notes),
    frequencyPenalty: readNumber(body, 'frequency_penalty', notes),
    logprobs: readLogprobs(body, notes),
    choices: readNumber(body, 'n', notes),
    parallelToolCalls: usesFunctions(body) ? false : readBoolean(body, 'parallel_tool_calls', notes),
    reasoning: readReasoning(body, notes),
    outputFormat: readFormat(body['response_format'], notes),
    verbosity: readWord(body, 'verbosity', verbosities, notes),
    user: readText(body, userMember(body), notes),
    serviceTier: readTier(body, notes),
    promptCacheKey: readText(body, 'prompt_cache_key', notes),
    metadata: readMetadata(body['metadata'], notes),
  };
}

/** The members as the caller spells them. */
export function readSpelling(body: WireRecord): Spelling {
  return {
    maxOutputTokens: limitMember(body),
    topP: 'top_p',
    topK: 'top_k',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
    choices: 'n',
    parallelToolCalls: usesFunctions(body) ? 'functions' : 'parallel_tool_calls',
    reasoning: reasoningMember(body),
    outputFormat: 'response_format',
    user: userMember(body),
    serviceTier: 'service_tier',
    promptCacheKey: 'prompt_cache_key',
  } satisfies Partial<Record<TurnSettingName, string>>;
}

/** Tells a request of the time before `tools`, when an answer could hold one call at most. */
function usesFunctions(body: WireRecord): boolean {
  return Array.isArray(body['functions']) && !isGiven(body['tools']);
}

/** The same of a request that has been read: who asked like that is answered like that. */
export function expectsFunctionCall({ surface, spelling }: Turn): boolean {
  return surface === chatSurface && spelling.parallelToolCalls === 'functions';
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function limitMember(body: WireRecord): string {
  return isGiven(body['max_completion_tokens']) || !isGiven(body['max_tokens'])
    ? 'max_completion_tokens'
    : 'max_tokens';
}

function userMember(body: WireRecord): string {
  return isGiven(body['safety_identifier']) || !isGiven(body['user']) ? 'safety_identifier' : 'user';
}

function readNumber(body: WireRecord, name: string, notes: TurnNotes): number | null {
  const value = numberOf(body[name]);
  if (value === null && isGiven(body[name])) notes.blame(name, `'${name}' must be a number.`);
  return value;
}

function readBoolean(body: WireRecord, name: string, notes: TurnNotes): boolean | null {
  const value = booleanOf(body[name]);
  if (value === null && isGiven(body[name])) notes.blame(name, `'${name}' must be true or false.`);
  return value;
}

function readText(body: WireRecord, name: string, notes: TurnNotes): string | null {
  const value = stringOf(body[name]);
  if (value === null && isGiven(body[name])) notes.blame(name, `'${name}' must be a text.`);
  return value;
}

const verbosities = ['low', 'medium', 'high'] as const;
const tiers = ['auto', 'default', 'flex', 'priority'] as const;
const efforts = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const satisfies readonly ReasoningEffort[];

function readWord<Word extends string>(
  body: WireRecord,
  name: string,
  words: readonly Word[],
  notes: TurnNotes,
  place = name,
): Word | null {
  const value = body[name];
  const word = words.find((word) => word === value) ?? null;
  if (word === null && isGiven(value))
    notes.blame(place, `'${place}' must be one of ${words.join(', ')}, or be left out.`);
  return word;
}

function readStop(value: unknown, notes: TurnNotes): readonly string[] | null {
  if (!isGiven(value)) return null;
  const list = typeof value === 'string' ? [value] : value;
  if (Array.isArray(list) && list.every((text): text is string => typeof text === 'string')) return list;
  notes.blame('stop', "'stop' must be a text or a list of texts.");
  return null;
}

function readLogprobs(body: WireRecord, notes: TurnNotes): number | null {
  const isAsked = readBoolean(body, 'logprobs', notes) === true;
  const alternatives = readNumber(body, 'top_logprobs', notes);
  return isAsked ? (alternatives ?? 0) : null;
}

/** The spelling of the protocol, or one of those that compatible servers have made common. */
function reasoningMember(body: WireRecord): string {
  return (
    ['reasoning_effort', 'reasoning', 'thinking'].find((name) => isGiven(body[name])) ?? 'reasoning_effort'
  );
}

function readReasoning(body: WireRecord, notes: TurnNotes): ReasoningSetting | null {
  const member = reasoningMember(body);
  if (!isGiven(body[member])) return null;
  if (member === 'reasoning_effort')
    return { effort: readWord(body, member, efforts, notes), budgetTokens: null, shown: null };
  const wire = body[member];
  if (!isRecord(wire)) {
    notes.blame(member, `'${member}' must be an object.`);
    return null;
  }
  return member === 'reasoning' ? readReasoningObject(wire, notes) : readThinking(wire, notes);
}

function readReasoningObject(wire: WireRecord, notes: TurnNotes): ReasoningSetting {
  const effort = readWord(wire, 'effort', efforts, notes, 'reasoning.effort');
  return {
    effort: wire['enabled'] === false ? 'none' : effort,
    budgetTokens: numberOf(wire['max_tokens']),
    shown: wire['exclude'] === true ? false : null,
  };
}

function readThinking(wire: WireRecord, notes: TurnNotes): ReasoningSetting {
  const type = readWord(wire, 'type', ['enabled', 'disabled', 'adaptive'], notes, 'thinking.type');
  const budgetTokens = numberOf(wire['budget_tokens']);
  return { effort: type === 'disabled' ? 'none' : null, budgetTokens, shown: null };
}

function readFormat(value: unknown, notes: TurnNotes): OutputFormat | null {
  if (!isGiven(value)) return null;
  const format = recordOf(value);
  switch (format['type']) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return readSchemaFormat(recordOf(format['json_schema']), notes);
    default:
      notes.blame(
        'response_format.type',
        "'response_format.type' must be one of text, json_object, json_schema.",
      );
      return null;
  }
}

function readSchemaFormat(wire: WireRecord, notes: TurnNotes): OutputFormat {
  const { schema } = wire;
  if (isGiven(schema) && !isRecord(schema))
    notes.blame(
      'response_format.json_schema.schema',
      "'response_format.json_schema.schema' must be an object.",
    );
  if (!isRecord(schema)) return { kind: 'json' };
  return {
    kind: 'json-schema',
    name: stringOf(wire['name']),
    description: stringOf(wire['description']),
    schema,
    strict: booleanOf(wire['strict']),
  };
}

function readTier(body: WireRecord, notes: TurnNotes): TurnSettings['serviceTier'] {
  const tier = body['service_tier'];
  // It is answered as `priority`.
  if (tier === 'fast') return 'priority';
  const known = tiers.find((word) => word === tier) ?? null;
  if (known === null && isGiven(tier)) notes.lose('service_tier');
  return known;
}

function readMetadata(value: unknown, notes: TurnNotes): TurnSettings['metadata'] {
  if (!isGiven(value)) return null;
  const entries = Object.entries(recordOf(value));
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (!isRecord(value) || texts.length < entries.length)
    notes.blame('metadata', "'metadata' must be an object of texts.");
  return Object.fromEntries(texts);
}
