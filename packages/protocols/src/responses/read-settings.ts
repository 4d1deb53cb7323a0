import {
  MemberReader,
  noteOwnMembers,
  readOutputFormat,
  serviceTiers,
  type TurnNotes,
  textMembers,
  verbosities,
} from '../translate/reading.ts';
import { efforts } from '../translate/reasoning-effort.ts';
import {
  noSettings,
  type OutputFormat,
  type ReasoningSetting,
  type Turn,
  type TurnSettingName,
  type TurnSettings,
} from '../turn.ts';
import { booleanOf, listOf, stringOf, type WireRecord, wordSet } from '../wire-values.ts';

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
  const members = new MemberReader(body, notes);
  const text = members.object('text');
  return {
    ...noSettings,
    maxOutputTokens: members.number('max_output_tokens'),
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    presencePenalty: members.number('presence_penalty'),
    frequencyPenalty: members.number('frequency_penalty'),
    logprobs: readLogprobs(members),
    parallelToolCalls: booleanOf(body['parallel_tool_calls']),
    reasoning: readReasoning(members.object('reasoning')),
    outputFormat: readFormat(text),
    verbosity: text.hint('verbosity', verbosities),
    user: stringOf(body['safety_identifier']) ?? stringOf(body['user']),
    serviceTier: members.hint('service_tier', serviceTiers),
    promptCacheKey: stringOf(body['prompt_cache_key']),
    metadata: textMembers(members.object('metadata').wire),
  };
}

/** They come when they are included; a number of alternatives alone brings none. */
function readLogprobs(members: MemberReader): number | null {
  const alternatives = members.number('top_logprobs');
  const isIncluded = listOf(members.value('include')).includes('message.output_text.logprobs');
  if (isIncluded) return alternatives ?? 0;
  return alternatives === 0 ? null : alternatives;
}

function readReasoning(reasoning: MemberReader): ReasoningSetting | null {
  const effort = reasoning.word('effort', efforts);
  const summary = reasoning.value('summary') ?? reasoning.value('generate_summary');
  for (const name of ['context', 'mode']) if (reasoning.has(name)) reasoning.notes.lose(`reasoning.${name}`);
  if (effort === null && summary === null) return null;
  return { effort, budgetTokens: null, shown: summary === null ? null : summary !== 'none' };
}

function readFormat(text: MemberReader): OutputFormat | null {
  const format = new MemberReader(text.value('format'), text.notes, 'text.format.');
  return format.wire['type'] === undefined ? null : readOutputFormat(format, format);
}

/** Members that are read, or say nothing that an answer depends on; and those without which it would be another one. */
const known = {
  understood: wordSet(`
    model input instructions stream stream_options tools tool_choice max_output_tokens temperature top_p
    top_logprobs presence_penalty frequency_penalty parallel_tool_calls reasoning text user safety_identifier
    service_tier prompt_cache_key metadata include`),
  insisted: wordSet('previous_response_id conversation prompt background'),
};

/** Notes the members that only this protocol has. */
export function noteExtensions(body: WireRecord, notes: TurnNotes): void {
  const { truncation } = body;
  // As it is anyway.
  noteOwnMembers({ ...body, truncation: truncation === 'disabled' ? null : truncation }, known, notes);
  const included = listOf(body['include']).filter(
    (name) => name !== 'reasoning.encrypted_content' && name !== 'message.output_text.logprobs',
  );
  if (included.length > 0) notes.lose('include');
}
