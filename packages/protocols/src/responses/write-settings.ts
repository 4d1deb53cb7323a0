import type { ThoughtWords, TranslationTarget } from '../codec.ts';
import { enforce } from '../translate/json-schema/strict-schema.ts';
import type { SettingSupport } from '../translate/losses.ts';
import { isThinking, type SteeringParameter, wordOn } from '../translate/model-fit.ts';
import { effortOf, efforts } from '../translate/reasoning-effort.ts';
import { legalName, type NameRule } from '../translate/tools.ts';
import {
  type SchemaFormat,
  type TurnWriting,
  withoutNulls,
  writeOutputFormat,
} from '../translate/writing.ts';
import type { Turn, TurnSettings } from '../turn.ts';
import { nameRule } from './write-tools.ts';

/** The vendor's models that think refuse what steers the choice of tokens, and those that do not refuse what steers thinking. */
export function settingSupport(turn: Turn, target: TranslationTarget): SettingSupport {
  const { settings } = turn;
  const { reasoning, dialect } = target;
  const asksNoThought = settings.reasoning !== null && effortOf(settings.reasoning) === 'none';
  const isRefusing = dialect.chatVocabulary === 'own' && isThinking(turn, target);
  const sampling = (parameter: SteeringParameter) =>
    isRefusing && wordOn(target, parameter) === null ? 'dropped' : 'carried';
  return {
    maxOutputTokens: 'carried',
    // A setting that is dropped, but would be so anyway, is no loss: the value that is the default, and no thoughts of a model without.
    temperature: settings.temperature === 1 ? 'carried' : sampling('temperature'),
    topP: settings.topP === 1 ? 'carried' : sampling('top_p'),
    topK: 'dropped',
    stop: 'refused',
    seed: 'dropped',
    presencePenalty: 'dropped',
    frequencyPenalty: 'dropped',
    logprobs: 'dropped',
    choices: 'refused',
    parallelToolCalls: 'carried',
    reasoning: reasoning || asksNoThought ? 'carried' : 'dropped',
    outputFormat: 'carried',
    verbosity: 'carried',
    user: 'carried',
    serviceTier: 'carried',
    promptCacheKey: 'carried',
    metadata: 'carried',
  };
}

const commonEfforts = ['none', 'low', 'medium', 'high'] as const;

export function thoughtWords({ dialect, model }: TranslationTarget): ThoughtWords {
  const shared = dialect.chatVocabulary === 'own' ? efforts : commonEfforts;
  const isOffByNone = dialect.thoughtSwitch === 'none' && model?.reasoning.mode === 'optional';
  return {
    vocabulary: efforts,
    efforts: shared,
    isSwitched: false,
    isOffByNone,
    budget: null,
    usualBudget: null,
  };
}

/** The members that settings become; what is null is left to the upstream. */
export function writeSettings(writing: TurnWriting): object {
  const { target, turn } = writing;
  const { settings } = turn;
  const support = settingSupport(turn, target);
  const carried = (name: 'temperature' | 'topP') =>
    support[name] === 'carried' && settings[name] !== 1 ? settings[name] : null;
  return withoutNulls({
    max_output_tokens: writeLimit(writing),
    temperature: carried('temperature'),
    top_p: carried('topP'),
    reasoning: target.reasoning ? writeReasoning(writing) : null,
    text: writeText(writing),
    safety_identifier: shortened(settings.user),
    prompt_cache_key: shortened(settings.promptCacheKey),
    service_tier: settings.serviceTier,
    metadata: writeMetadata(writing),
  });
}

/** Tokens; the vendor takes no fewer. */
const limitMin = 16;

function writeLimit(writing: TurnWriting): number | null {
  const limit = writing.turn.settings.maxOutputTokens;
  if (limit === null || limit >= limitMin) return limit;
  writing.changeSetting('maxOutputTokens', `raised to ${limitMin}`);
  return limitMin;
}

function writeReasoning(writing: TurnWriting): object | null {
  const { reasoning } = writing.turn.settings;
  if (reasoning === null) return null;
  const effort = effortOf(reasoning);
  if (reasoning.effort === null && effort !== null)
    writing.changeSetting('reasoning', `as an effort: ${effort}`);
  const isShown = reasoning.shown === true;
  return effort === null && !isShown ? null : withoutNulls({ effort, summary: isShown ? 'auto' : null });
}

function writeText(writing: TurnWriting): object | null {
  const { outputFormat, verbosity } = writing.turn.settings;
  if (outputFormat === null && verbosity === null) return null;
  const about = (schema: SchemaFormat) => writeSchema(writing, schema);
  const format = outputFormat === null ? null : writeOutputFormat(outputFormat, about);
  return withoutNulls({ format, verbosity });
}

/** A schema stands beside its name here, not within a member of its own. */
function writeSchema(writing: TurnWriting, format: SchemaFormat): object {
  const { name, description, strict } = format;
  const { surface } = writing;
  const about = description === null ? {} : { description };
  // A schema of the other protocols is enforced unless it is said not to be.
  const wanted = strict ?? !surface.enforcesSchemas;
  const enforced = enforce({ ...format, strict: wanted }, surface);
  if (wanted && !enforced.strict) writing.changeSetting('outputFormat', 'asked for, but not enforced');
  return { name: legalName(name ?? 'response', nameRule), ...about, ...enforced };
}

const wordRule: NameRule = { legal: /^[\s\S]$/u, legalFirst: /^[\s\S]$/u, lengthMax: 64 };

/** The vendor knows a user or a cache by a short word; the same long one is the same short one every time. */
function shortened(word: string | null): string | null {
  return word === null ? null : legalName(word, wordRule);
}

function writeMetadata(writing: TurnWriting): TurnSettings['metadata'] {
  const { metadata } = writing.turn.settings;
  if (metadata === null || isShort(metadata)) return metadata;
  writing.dropSetting('metadata', 'too large');
  return null;
}

/** The vendor's limits: pairs, and characters of a name and of a value. */
function isShort(metadata: Readonly<Record<string, string>>): boolean {
  const pairs = Object.entries(metadata);
  return pairs.length <= 16 && pairs.every(([name, value]) => name.length <= 64 && value.length <= 512);
}
