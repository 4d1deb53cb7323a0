import type { TranslationTarget } from '../../codec.ts';
import { structuredSchema } from '../../translate/json-schema/structured-schema.ts';
import { type SettingSupport, spellingOf } from '../../translate/setting-losses.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type { Turn } from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import { type Thinking, thinksByBudget } from './thinking.ts';

/** What an upstream of this protocol does with each setting. */
export const settingSupport: SettingSupport = {
  maxOutputTokens: 'carried',
  temperature: 'carried',
  topP: 'carried',
  topK: 'carried',
  stop: 'carried',
  seed: 'dropped',
  presencePenalty: 'dropped',
  frequencyPenalty: 'dropped',
  logprobs: 'dropped',
  choices: 'refused',
  parallelToolCalls: 'carried',
  reasoning: 'carried',
  outputFormat: 'carried',
  verbosity: 'dropped',
  user: 'carried',
  serviceTier: 'carried',
  promptCacheKey: 'dropped',
  metadata: 'dropped',
};

/** Where neither the caller nor the catalogue knows a limit. Tokens. */
const maxTokensDefault = 8_192;

/** The limit this protocol insists on: the caller's as far as the model goes, else all that the model can write. */
export function writeMaxTokens(
  turn: Turn,
  { maxOutputTokens }: TranslationTarget,
  notes: WriteNotes,
): number {
  const asked = turn.settings.maxOutputTokens;
  if (asked === null) return maxOutputTokens ?? maxTokensDefault;
  if (maxOutputTokens === null || asked <= maxOutputTokens) return asked;
  notes.change(spellingOf(turn, 'maxOutputTokens'), `limited to ${maxOutputTokens}`);
  return maxOutputTokens;
}

/** Everything a request sets that is neither its limit nor about tools. */
export function writeSettings(
  turn: Turn,
  target: TranslationTarget,
  thinking: Thinking,
  notes: WriteNotes,
): WireRecord {
  return {
    ...writeSampling(turn, target, thinking, notes),
    ...writeStop(turn, notes),
    ...(thinking.thinking === null ? {} : { thinking: thinking.thinking }),
    ...writeOutputConfig(turn, thinking, notes),
    ...(turn.settings.user === null ? {} : { metadata: { user_id: turn.settings.user } }),
    ...writeTier(turn, notes),
  };
}

/** Newer models sample as they will; older ones do while they think, and take only one of temperature and nucleus. */
function writeSampling(
  turn: Turn,
  target: TranslationTarget,
  { isOn }: Thinking,
  notes: WriteNotes,
): WireRecord {
  if (target.reasoning && !thinksByBudget(target))
    return withoutSampling(turn, 'the model takes none', 1, notes);
  if (isOn) return withoutSampling(turn, 'not taken beside reasoning', topPBesideThoughtMin, notes);
  const { temperature, topP, topK } = turn.settings;
  const isTwice = temperature !== null && topP !== null;
  if (isTwice) notes.drop(spellingOf(turn, 'topP'), 'only one of it and temperature is taken');
  return {
    ...(temperature === null ? {} : writeTemperature(turn, temperature, notes)),
    ...(topP === null || isTwice ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
  };
}

/** Beside thought, nucleus sampling is taken from here on. */
const topPBesideThoughtMin = 0.95;

/** What asks for nothing but what happens anyway is no loss. */
function withoutSampling(turn: Turn, note: string, topPMin: number, notes: WriteNotes): WireRecord {
  const { temperature, topP, topK } = turn.settings;
  const isNarrow = topP !== null && topP < topPMin;
  if (temperature !== null && temperature !== 1) notes.drop(spellingOf(turn, 'temperature'), note);
  if (isNarrow) notes.drop(spellingOf(turn, 'topP'), note);
  if (topK !== null) notes.drop(spellingOf(turn, 'topK'), note);
  return topP === null || topP === 1 || isNarrow ? {} : { top_p: topP };
}

function writeTemperature(turn: Turn, temperature: number, notes: WriteNotes): WireRecord {
  if (temperature > 1) notes.change(spellingOf(turn, 'temperature'), 'clamped to 1');
  return { temperature: Math.min(temperature, 1) };
}

/** Sequences of nothing but white space are refused by the vendor. */
function writeStop(turn: Turn, notes: WriteNotes): WireRecord {
  const given = turn.settings.stop ?? [];
  const stop = given.filter((text) => text.trim() !== '');
  if (stop.length < given.length) notes.change(spellingOf(turn, 'stop'), 'without white space alone');
  return stop.length === 0 ? {} : { stop_sequences: stop };
}

function writeOutputConfig(turn: Turn, { effort }: Thinking, notes: WriteNotes): WireRecord {
  const config = {
    ...(effort === null ? {} : { effort }),
    ...writeFormat(turn, notes),
  };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

function writeFormat(turn: Turn, notes: WriteNotes): WireRecord {
  const { outputFormat } = turn.settings;
  if (outputFormat?.kind !== 'json-schema') return {};
  const { schema, isChanged } = structuredSchema(outputFormat.schema);
  if (isChanged) notes.change(spellingOf(turn, 'outputFormat'), 'some constraints as descriptions');
  return { format: { type: 'json_schema', schema } };
}

/** This vendor has no form of JSON without a schema; models are told in words instead. */
export function jsonInstruction(turn: Turn, notes: WriteNotes): string | null {
  if (turn.settings.outputFormat?.kind !== 'json') return null;
  notes.change(spellingOf(turn, 'outputFormat'), 'as an instruction');
  return 'Answer with one JSON object and nothing else.';
}

function writeTier(turn: Turn, notes: WriteNotes): WireRecord {
  const tier = turn.settings.serviceTier;
  switch (tier) {
    case null:
      return {};
    case 'default':
      return { service_tier: 'standard_only' };
    case 'priority':
      // This protocol knows no more than to use it where there is any.
      if (turn.surface !== 'messages')
        notes.change(spellingOf(turn, 'serviceTier'), 'where the account has it');
      return { service_tier: 'auto' };
    case 'auto':
      return { service_tier: 'auto' };
    case 'flex':
      notes.drop(spellingOf(turn, 'serviceTier'));
      return {};
  }
}
