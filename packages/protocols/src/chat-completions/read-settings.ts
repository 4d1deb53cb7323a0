import {
  MemberReader,
  readOutputFormat,
  serviceTiers,
  type TurnNotes,
  textMembers,
  verbosities,
} from '../translate/reading.ts';
import { efforts } from '../translate/reasoning-effort.ts';
import type { OutputFormat, ReasoningSetting, Turn, TurnSettingName, TurnSettings } from '../turn.ts';
import { isRecord, numberOf, type WireRecord } from '../wire-values.ts';
import { chatSurface, thoughtMembers } from './wire.ts';

export type Spelling = Turn['spelling'];

/** Reads everything that a request sets beside its conversation. */
export function readSettings(body: WireRecord, notes: TurnNotes): TurnSettings {
  const members = new MemberReader(body, notes);
  return {
    maxOutputTokens: members.number(limitMember(members)),
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    topK: members.number('top_k'),
    stop: members.texts('stop'),
    seed: members.number('seed'),
    presencePenalty: members.number('presence_penalty'),
    frequencyPenalty: members.number('frequency_penalty'),
    logprobs: readLogprobs(members),
    choices: members.number('n'),
    parallelToolCalls: usesFunctions(members) ? false : members.boolean('parallel_tool_calls'),
    reasoning: readReasoning(members),
    outputFormat: readFormat(members),
    verbosity: members.word('verbosity', verbosities),
    user: members.text(userMember(members)),
    serviceTier: readTier(members),
    promptCacheKey: members.text('prompt_cache_key'),
    metadata: readMetadata(members),
  };
}

/** The members as the caller spells them. */
export function readSpelling(members: MemberReader): Spelling {
  return {
    maxOutputTokens: limitMember(members),
    topP: 'top_p',
    topK: 'top_k',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
    choices: 'n',
    parallelToolCalls: usesFunctions(members) ? 'functions' : 'parallel_tool_calls',
    reasoning: reasoningMember(members),
    outputFormat: 'response_format',
    user: userMember(members),
    serviceTier: 'service_tier',
    promptCacheKey: 'prompt_cache_key',
  } satisfies Partial<Record<TurnSettingName, string>>;
}

/** Tells a request of the time before `tools`, when an answer could hold one call at most. */
function usesFunctions(members: MemberReader): boolean {
  return Array.isArray(members.value('functions')) && !members.has('tools');
}

/** The same of a request that has been read: who asked like that is answered like that. */
export function expectsFunctionCall({ surface, spelling }: Turn): boolean {
  return surface === chatSurface && spelling.parallelToolCalls === 'functions';
}

/** The first of several spellings that the request has, else the first of all. */
function spelling(members: MemberReader, spellings: readonly [string, ...string[]]): string {
  return spellings.find((name) => members.has(name)) ?? spellings[0];
}

function limitMember(members: MemberReader): string {
  return spelling(members, ['max_completion_tokens', 'max_tokens']);
}

function userMember(members: MemberReader): string {
  return spelling(members, ['safety_identifier', 'user']);
}

/** The spelling of the protocol, or one of those that compatible servers have made common. */
function reasoningMember(members: MemberReader): string {
  return spelling(members, thoughtMembers);
}

function readLogprobs(members: MemberReader): number | null {
  const isAsked = members.boolean('logprobs') === true;
  const alternatives = members.number('top_logprobs');
  return isAsked ? (alternatives ?? 0) : null;
}

function readReasoning(members: MemberReader): ReasoningSetting | null {
  const name = reasoningMember(members);
  if (!members.has(name)) return null;
  loseOtherSpellings(members);
  if (name === 'reasoning_effort')
    return { effort: members.word(name, efforts), budgetTokens: null, shown: null };
  if (name === 'reasoning') return readReasoningObject(members.object(name));
  return name === 'thinking' ? readThinking(members.object(name)) : readSwitch(members);
}

/** Says no more than the member that was read, which counts: a caller who writes both is told so. */
function loseOtherSpellings(members: MemberReader): void {
  const read = reasoningMember(members);
  const isPair = read === 'enable_thinking';
  for (const name of thoughtMembers)
    if (name !== read && members.has(name) && !(isPair && name === 'thinking_budget'))
      members.notes.lose(name);
}

function readSwitch(members: MemberReader): ReasoningSetting {
  const isOn = members.boolean('enable_thinking');
  const budgetTokens = isOn === false ? null : members.number('thinking_budget');
  return { effort: isOn === false ? 'none' : null, budgetTokens, shown: null, ...(isOn === true ? on : {}) };
}

const on = { isOn: true } as const;

function readReasoningObject(reasoning: MemberReader): ReasoningSetting {
  const effort = reasoning.word('effort', efforts);
  return {
    effort: reasoning.wire['enabled'] === false ? 'none' : effort,
    budgetTokens: numberOf(reasoning.wire['max_tokens']),
    shown: reasoning.wire['exclude'] === true ? false : null,
    ...(reasoning.wire['enabled'] === true ? on : {}),
  };
}

function readThinking(thinking: MemberReader): ReasoningSetting {
  const type = thinking.word('type', ['enabled', 'disabled', 'adaptive']);
  const budgetTokens = numberOf(thinking.wire['budget_tokens']);
  const isOff = type === 'disabled';
  return { effort: isOff ? 'none' : null, budgetTokens, shown: null, ...(type === null || isOff ? {} : on) };
}

function readFormat(members: MemberReader): OutputFormat | null {
  if (!members.has('response_format')) return null;
  const format = members.object('response_format');
  return readOutputFormat(format, format.object('json_schema'));
}

function readTier(members: MemberReader): TurnSettings['serviceTier'] {
  // It is answered as `priority`.
  return members.value('service_tier') === 'fast' ? 'priority' : members.hint('service_tier', serviceTiers);
}

function readMetadata(members: MemberReader): TurnSettings['metadata'] {
  const metadata = members.value('metadata');
  if (metadata === null) return null;
  const texts = textMembers(metadata) ?? {};
  if (!isRecord(metadata) || Object.keys(texts).length < Object.keys(metadata).length)
    members.blame('metadata', 'be an object of texts');
  return texts;
}
