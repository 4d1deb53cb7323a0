import type { TranslationTarget } from '../codec.ts';
import { unreachable } from '../result.ts';
import { toNativeSchema } from '../translate/json-schema/native-schema.ts';
import { type SettingSupport, spellingOf } from '../translate/losses.ts';
import type { WriteNotes } from '../translate/notes.ts';
import { budgetOf } from '../translate/reasoning-effort.ts';
import type { MediaBlock, ReasoningEffort, ReasoningSetting, Turn, TurnSettings } from '../turn.ts';
import { generationOf, type ModelGeneration } from './wire.ts';

/** Not to think at all is nothing that has to be said to a model that does not. */
export function settingSupport({ settings }: Turn, { reasoning }: TranslationTarget): SettingSupport {
  return {
    maxOutputTokens: 'carried',
    temperature: 'carried',
    topP: 'carried',
    topK: 'carried',
    stop: 'carried',
    seed: 'carried',
    presencePenalty: 'carried',
    frequencyPenalty: 'carried',
    logprobs: 'dropped',
    choices: 'refused',
    parallelToolCalls: 'dropped',
    reasoning: reasoning || settings.reasoning?.effort === 'none' ? 'carried' : 'dropped',
    outputFormat: 'carried',
    verbosity: 'dropped',
    user: 'dropped',
    serviceTier: 'carried',
    promptCacheKey: 'dropped',
    metadata: 'dropped',
  };
}

/** The members that settings become; what is null is left to the upstream. */
export function writeSettings(turn: Turn, target: TranslationTarget, notes: WriteNotes): object {
  const { settings } = turn;
  const generation = generationOf(target.upstreamModel);
  const generationConfig = withoutNulls({
    maxOutputTokens: writeLimit(turn, target, notes),
    temperature: settings.temperature,
    topP: settings.topP,
    topK: settings.topK,
    stopSequences: writeStop(turn, notes),
    seed: writeSeed(turn, notes),
    presencePenalty: settings.presencePenalty,
    frequencyPenalty: settings.frequencyPenalty,
    thinkingConfig: target.reasoning ? writeThinking(turn, generation, notes) : null,
    ...writeFormat(settings.outputFormat, generation),
    mediaResolution: mediaResolution(turn),
  });
  const serviceTier = tiers[settings.serviceTier ?? 'auto'];
  return {
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(serviceTier === null ? {} : { serviceTier }),
  };
}

const tiers = { auto: null, default: null, flex: 'flex', priority: 'priority' } as const;

function withoutNulls(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** More than the model can write is refused here, and nothing else elsewhere. */
function writeLimit(turn: Turn, { maxOutputTokens }: TranslationTarget, notes: WriteNotes): number | null {
  const limit = turn.settings.maxOutputTokens;
  if (limit === null || maxOutputTokens === null || limit <= maxOutputTokens) return limit;
  notes.change(spellingOf(turn, 'maxOutputTokens'), `lowered to ${maxOutputTokens}`);
  return maxOutputTokens;
}

/** Seeds have 32 bits here. */
function writeSeed(turn: Turn, notes: WriteNotes): number | null {
  const { seed } = turn.settings;
  if (seed === null || seed === Math.trunc(seed % 2 ** 31)) return seed;
  notes.change(spellingOf(turn, 'seed'), 'cut to 32 bits');
  return Math.trunc(seed % 2 ** 31);
}

const stopsMax = 5;

function writeStop(turn: Turn, notes: WriteNotes): readonly string[] | null {
  const stop = turn.settings.stop ?? [];
  if (stop.length > stopsMax) notes.change(spellingOf(turn, 'stop'), `only the first ${stopsMax}`);
  return stop.length === 0 ? null : stop.slice(0, stopsMax);
}

/** A word where the model knows words and the caller used one, else a budget; never both, which is refused. */
function writeThinking(turn: Turn, generation: ModelGeneration, notes: WriteNotes): object | null {
  const { reasoning } = turn.settings;
  if (reasoning === null) return null;
  const shown = reasoning.shown === true ? { includeThoughts: true } : {};
  const amount = generation.knowsThinkingLevels ? thinkingLevel(turn, reasoning, notes) : null;
  if (amount !== null) return { ...shown, thinkingLevel: amount };
  const budget = budgetOf(reasoning);
  const config = { ...shown, ...(budget === null ? {} : { thinkingBudget: Math.min(budget, budgetMax) }) };
  return Object.keys(config).length === 0 ? null : config;
}

/** Tokens; what the least of the models takes. */
const budgetMax = 24_576;

const levels: Readonly<Record<ReasoningEffort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

function thinkingLevel(turn: Turn, { effort }: ReasoningSetting, notes: WriteNotes): string | null {
  if (effort === null) return null;
  const level = levels[effort];
  if (level !== effort.toUpperCase()) notes.change(spellingOf(turn, 'reasoning'), `thinking level ${level}`);
  return level;
}

function writeFormat(format: TurnSettings['outputFormat'], { knowsJsonSchema }: ModelGeneration): object {
  const responseMimeType = 'application/json';
  switch (format?.kind) {
    case undefined:
    case 'text':
      return {};
    case 'json':
      return { responseMimeType };
    case 'json-schema':
      return knowsJsonSchema
        ? { responseMimeType, responseJsonSchema: format.schema }
        : { responseMimeType, responseSchema: toNativeSchema(format.schema) };
    default:
      return unreachable(format);
  }
}

/** One for all images: as close as the one that is to be looked at most closely. */
function mediaResolution({ messages }: Turn): string | null {
  const details = messages.flatMap(({ content }) =>
    content.filter((block): block is MediaBlock => block.kind === 'media').map(({ detail }) => detail),
  );
  if (details.includes('high')) return 'MEDIA_RESOLUTION_HIGH';
  return details.length > 0 && details.every((detail) => detail === 'low') ? 'MEDIA_RESOLUTION_LOW' : null;
}
