import type { TranslationTarget } from '../codec.ts';
import { structuredSchema } from '../translate/json-schema/strict-schema.ts';
import { type SettingSupport, spellingOf } from '../translate/losses.ts';
import type { WriteNotes } from '../translate/notes.ts';
import { budgetOf, effortOf } from '../translate/reasoning-effort.ts';
import type { ReasoningSetting, Turn } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { messagesSurface } from './wire.ts';

/** The way an upstream of this protocol takes each setting. */
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

/** The limit if neither the caller nor the catalogue knows one. Tokens. */
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

/** A value that asks for nothing but what happens anyway is no loss. */
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
      if (turn.surface !== messagesSurface)
        notes.change(spellingOf(turn, 'serviceTier'), 'where the account has it');
      return { service_tier: 'auto' };
    case 'auto':
      return { service_tier: 'auto' };
    case 'flex':
      notes.drop(spellingOf(turn, 'serviceTier'));
      return {};
  }
}

/** How a request asks for thought. */
interface Thinking {
  readonly isOn: boolean;
  /** Null where nothing is said of it. */
  readonly thinking: WireRecord | null;
  readonly effort: string | null;
}

/** Everything else of the request that bears on it. */
interface ThinkingContext {
  readonly target: TranslationTarget;
  /** Tokens. */
  readonly maxTokens: number;
  /** True when the conversation stands in the middle of a use of tools whose thoughts are not at hand. */
  readonly isLoopUnsigned: boolean;
}

const silent: Thinking = { isOn: false, thinking: null, effort: null };
const off: Thinking = { isOn: false, thinking: { type: 'disabled' }, effort: null };

/** The vendor takes no smaller budget. Tokens. */
const budgetMin = 1_024;
/** For a caller that asks for thought and not for how much. Tokens. */
const budgetDefault = 8_192;

/** True when the model is told how much to think in tokens and takes a temperature; later ones take a word for it, and none. */
function thinksByBudget({ upstreamModel, dialect }: TranslationTarget): boolean {
  return dialect.budgetThinkingModels.some((beginning) => upstreamModel.startsWith(beginning));
}

/** How much is to be thought in this vendor's words, which differ by the age of its models (translation-map.md, 1). */
export function writeThinking(turn: Turn, context: ThinkingContext, notes: WriteNotes): Thinking {
  const { reasoning } = turn.settings;
  const field = spellingOf(turn, 'reasoning');
  if (reasoning === null) return silent;
  if (!context.target.reasoning) {
    if (reasoning.effort !== 'none') notes.drop(field, 'the model does not reason');
    return silent;
  }
  if (reasoning.effort === 'none') return off;
  if (isToolForced(turn)) {
    notes.change(field, 'off, since a tool is forced');
    return off;
  }
  return thinksByBudget(context.target)
    ? byBudget(reasoning, context, (note) => notes.change(field, note))
    : byWord(reasoning, (note) => notes.change(field, note));
}

function isToolForced({ toolChoice, tools }: Turn): boolean {
  if (toolChoice === null || tools.length === 0) return false;
  return (
    toolChoice.kind === 'required' ||
    toolChoice.kind === 'named' ||
    (toolChoice.kind === 'allowed' && toolChoice.mode === 'required')
  );
}

type Change = (note: string) => void;

function byBudget(
  setting: ReasoningSetting,
  { maxTokens, isLoopUnsigned }: ThinkingContext,
  change: Change,
): Thinking {
  // A turn that thinks must begin with its thoughts, signed.
  if (isLoopUnsigned) {
    change('off for this turn, whose thoughts are not from here');
    return off;
  }
  if (maxTokens <= budgetMin) {
    change(`off, since ${maxTokens} tokens leave no room for it`);
    return off;
  }
  const { budgetTokens, shown } = setting;
  const asked = budgetOf(setting) ?? budgetDefault;
  const budget = Math.min(Math.max(Math.round(asked), budgetMin), maxTokens - 1);
  if (budgetTokens !== null && budget !== budgetTokens) change(`a budget of ${budget} tokens`);
  const display = shown === false ? { display: 'omitted' } : {};
  return { isOn: true, thinking: { type: 'enabled', budget_tokens: budget, ...display }, effort: null };
}

function byWord(setting: ReasoningSetting, change: Change): Thinking {
  const { effort, shown } = setting;
  const asked = effortOf(setting);
  const word = asked === 'minimal' || asked === 'none' ? 'low' : asked;
  if (word !== effort) change(`effort ${word}`);
  const display = shown === null ? {} : { display: shown ? 'summarized' : 'omitted' };
  return { isOn: true, thinking: { type: 'adaptive', ...display }, effort: word };
}
