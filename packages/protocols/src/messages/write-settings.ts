import type { ThoughtWords, TokenRange, TranslationTarget } from '../codec.ts';
import { isToolForced } from '../translate/answer-tool.ts';
import { structuredSchema } from '../translate/json-schema/strict-schema.ts';
import type { SettingSupport } from '../translate/losses.ts';
import { wordOn } from '../translate/model-fit.ts';
import { budgetOf, effortOf } from '../translate/reasoning-effort.ts';
import type { TurnWriting } from '../translate/writing.ts';
import type { ReasoningSetting } from '../turn.ts';
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

/** The limit this protocol insists on, thoughts included: the caller's, else all that the model can write. */
export function writeMaxTokens({ target, turn: { settings } }: TurnWriting): number {
  const usual = maxTokensDefault + (settings.reasoning?.budgetTokens ?? 0);
  return settings.maxOutputTokens ?? target.maxOutputTokens ?? usual;
}

/** Everything a request sets that is neither its limit nor about tools. */
export function writeSettings(writing: TurnWriting, thinking: Thinking): WireRecord {
  const { user } = writing.turn.settings;
  return {
    ...writeSampling(writing, thinking),
    ...writeStop(writing),
    ...(thinking.thinking === null ? {} : { thinking: thinking.thinking }),
    ...writeOutputConfig(writing, thinking),
    ...(user === null ? {} : { metadata: { user_id: user } }),
    ...writeTier(writing),
  };
}

/** Newer models sample as they will; older ones do while they think, and take only one of temperature and nucleus. */
function writeSampling(writing: TurnWriting, { isOn }: Thinking): WireRecord {
  const { target } = writing;
  const isUnknown = wordOn(target, 'temperature') === null;
  if (isUnknown && target.reasoning && !thinksByBudget(target))
    return withoutSampling(writing, 'the model takes none', 1);
  if (isOn) return withoutSampling(writing, 'not taken beside reasoning', topPBesideThoughtMin);
  const { temperature, topP: nucleus, topK } = writing.turn.settings;
  // All of it is what happens anyway.
  const topP = nucleus === 1 && temperature !== null ? null : nucleus;
  const isTwice = temperature !== null && topP !== null;
  if (isTwice) writing.dropSetting('topP', 'only one of it and temperature is taken');
  return {
    ...(temperature === null ? {} : writeTemperature(writing, temperature)),
    ...(topP === null || isTwice ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
  };
}

/** Beside thought, nucleus sampling is taken from here on. */
const topPBesideThoughtMin = 0.95;

/** A value that asks for nothing but what happens anyway is no loss. */
function withoutSampling(writing: TurnWriting, note: string, topPMin: number): WireRecord {
  const { temperature, topP, topK } = writing.turn.settings;
  const isNarrow = topP !== null && topP < topPMin;
  if (temperature !== null && temperature !== 1) writing.dropSetting('temperature', note);
  if (isNarrow) writing.dropSetting('topP', note);
  if (topK !== null) writing.dropSetting('topK', note);
  return topP === null || topP === 1 || isNarrow ? {} : { top_p: topP };
}

function writeTemperature(writing: TurnWriting, temperature: number): WireRecord {
  if (temperature > 1) writing.changeSetting('temperature', 'clamped to 1');
  return { temperature: Math.min(temperature, 1) };
}

/** Sequences of nothing but white space are refused by the vendor. */
function writeStop(writing: TurnWriting): WireRecord {
  const given = writing.turn.settings.stop ?? [];
  const stop = given.filter((text) => text.trim() !== '');
  if (stop.length < given.length) writing.changeSetting('stop', 'without white space alone');
  return stop.length === 0 ? {} : { stop_sequences: stop };
}

function writeOutputConfig(writing: TurnWriting, { effort }: Thinking): WireRecord {
  const config = { ...(effort === null ? {} : { effort }), ...writeFormat(writing) };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

function writeFormat(writing: TurnWriting): WireRecord {
  const { outputFormat } = writing.turn.settings;
  if (outputFormat?.kind !== 'json-schema') return {};
  const { schema, isChanged } = structuredSchema(outputFormat.schema);
  if (isChanged) writing.changeSetting('outputFormat', 'some constraints as descriptions');
  return { format: { type: 'json_schema', schema } };
}

/** This vendor has no form of JSON without a schema; models are told in words instead. */
export function jsonInstruction(writing: TurnWriting): string | null {
  if (writing.turn.settings.outputFormat?.kind !== 'json') return null;
  writing.changeSetting('outputFormat', 'as an instruction');
  return 'Answer with one JSON object and nothing else.';
}

function writeTier(writing: TurnWriting): WireRecord {
  switch (writing.turn.settings.serviceTier) {
    case null:
      return {};
    case 'default':
      return { service_tier: 'standard_only' };
    case 'priority':
      // This protocol knows no more than to use it where there is any.
      if (writing.surface !== messagesSurface)
        writing.changeSetting('serviceTier', 'where the account has it');
      return { service_tier: 'auto' };
    case 'auto':
      return { service_tier: 'auto' };
    case 'flex':
      writing.dropSetting('serviceTier');
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

const silent: Thinking = { isOn: false, thinking: null, effort: null };
const off: Thinking = { isOn: false, thinking: { type: 'disabled' }, effort: null };

/** The vendor takes no smaller budget. Tokens. */
const budgetMin = 1_024;
/** For a caller that asks for thought and not for how much. Tokens. */
const budgetDefault = 8_192;

/** Such a model is told in tokens how much to think, and takes a temperature; later ones take a word for it, and none. */
function thinksByBudget(target: TranslationTarget): boolean {
  return budgetRange(target) !== null;
}

function budgetRange({ upstreamModel, dialect, model }: TranslationTarget): TokenRange | null {
  const known = model?.reasoning.budget ?? null;
  if (known !== null) return { ...known, min: Math.max(known.min, budgetMin) };
  const isListed = dialect.budgetThinkingModels.some((beginning) => upstreamModel.startsWith(beginning));
  return isListed ? { min: budgetMin, max: Number.POSITIVE_INFINITY } : null;
}

const laterEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Thought has a switch of its own here, and by the age of the model a budget or a word. */
export function thoughtWords(target: TranslationTarget): ThoughtWords {
  return {
    vocabulary: laterEfforts,
    efforts: laterEfforts,
    isSwitched: true,
    isOffByNone: false,
    budget: budgetRange(target),
    usualBudget: budgetDefault,
  };
}

/**
 * How much is to be thought in this vendor's words, which differ by the age of its models (translation-map.md, 1).
 * `isLoopUnsigned`: the conversation stands in the middle of a use of tools whose thoughts are not at hand.
 */
export function writeThinking(writing: TurnWriting, maxTokens: number, isLoopUnsigned: boolean): Thinking {
  const { turn, target } = writing;
  const { reasoning } = turn.settings;
  if (reasoning === null) return silent;
  const room = reasoning.limitTokens ?? maxTokens;
  if (!target.reasoning) {
    if (reasoning.effort !== 'none') writing.dropSetting('reasoning', 'the model does not reason');
    return silent;
  }
  if (reasoning.effort === 'none') return off;
  if (isToolForced(turn)) return turnedOff(writing, 'off, since a tool is forced');
  if (!thinksByBudget(target)) return byWord(writing, reasoning);
  // A turn that thinks must begin with its thoughts, signed.
  if (isLoopUnsigned) return turnedOff(writing, 'off for this turn, whose thoughts are not from here');
  if (room > budgetMin) return byBudget(writing, reasoning, room);
  return turnedOff(writing, `off, since ${room} tokens leave no room for it`);
}

function turnedOff(writing: TurnWriting, note: string): Thinking {
  const isAlways = writing.target.reasoning === 'always';
  writing.changeSetting('reasoning', isAlways ? 'left to the model, which always thinks' : note);
  return isAlways ? silent : off;
}

function byBudget(writing: TurnWriting, setting: ReasoningSetting, maxTokens: number): Thinking {
  const { budgetTokens, shown } = setting;
  const asked = budgetOf(setting) ?? budgetDefault;
  const budget = Math.min(Math.max(Math.round(asked), budgetMin), maxTokens - 1);
  if (budgetTokens !== null && budget !== budgetTokens)
    writing.changeSetting('reasoning', `a budget of ${budget} tokens`);
  const display = shown === false ? { display: 'omitted' } : {};
  return { isOn: true, thinking: { type: 'enabled', budget_tokens: budget, ...display }, effort: null };
}

function byWord(writing: TurnWriting, setting: ReasoningSetting): Thinking {
  const { effort, shown } = setting;
  const asked = effortOf(setting);
  const word = asked === 'minimal' || asked === 'none' ? 'low' : asked;
  if (word !== effort) writing.changeSetting('reasoning', `effort ${word}`);
  const display = shown === null ? {} : { display: shown ? 'summarized' : 'omitted' };
  return { isOn: true, thinking: { type: 'adaptive', ...display }, effort: word };
}
