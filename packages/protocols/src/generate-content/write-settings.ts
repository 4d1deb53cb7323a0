import type { ThoughtWords, TranslationTarget } from '../codec.ts';
import { unreachable } from '../result.ts';
import { choicesSupport } from '../translate/choices.ts';
import { nativeJsonSchema } from '../translate/json-schema/native-json-schema.ts';
import { toNativeSchema } from '../translate/json-schema/native-schema.ts';
import {
  findObstacle,
  nativeJsonLimits,
  nativeLimits,
  type SchemaLimits,
} from '../translate/json-schema/obstacles.ts';
import { type SettingSupport, spellingOf } from '../translate/losses.ts';
import { budgetOf } from '../translate/reasoning-effort.ts';
import { type TurnWriting, withoutNulls } from '../translate/writing.ts';
import type { MediaBlock, ReasoningEffort, ReasoningSetting, Turn, TurnSettings } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { generateContentSurface, generationOf, type ModelGeneration } from './wire.ts';

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
    choices: choicesSupport(settings.choices),
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
export function writeSettings(writing: TurnWriting): object {
  const { target, turn } = writing;
  const { settings } = turn;
  const generation = generationOf(target.upstreamModel);
  const generationConfig = withoutNulls({
    maxOutputTokens: writing.limitWithThoughts(),
    temperature: settings.temperature,
    topP: settings.topP,
    topK: settings.topK,
    stopSequences: writeStop(writing),
    candidateCount: (settings.choices ?? 1) > 1 ? settings.choices : null,
    seed: writeSeed(writing),
    presencePenalty: settings.presencePenalty,
    frequencyPenalty: settings.frequencyPenalty,
    thinkingConfig: target.reasoning ? writeThinking(writing, generation) : null,
    ...writeFormat(writing, settings.outputFormat, generation),
    mediaResolution: mediaResolution(turn),
  });
  const serviceTier = tiers[settings.serviceTier ?? 'auto'];
  return {
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(serviceTier === null ? {} : { serviceTier }),
  };
}

const tiers = { auto: null, default: null, flex: 'flex', priority: 'priority' } as const;

/** Seeds have 32 bits here. */
function writeSeed(writing: TurnWriting): number | null {
  const { seed } = writing.turn.settings;
  if (seed === null || seed === Math.trunc(seed % 2 ** 31)) return seed;
  writing.changeSetting('seed', 'cut to 32 bits');
  return Math.trunc(seed % 2 ** 31);
}

const stopsMax = 5;

function writeStop(writing: TurnWriting): readonly string[] | null {
  const stop = writing.turn.settings.stop ?? [];
  if (stop.length > stopsMax) writing.changeSetting('stop', `only the first ${stopsMax}`);
  return stop.length === 0 ? null : stop.slice(0, stopsMax);
}

/** A word where the model knows words and the caller used one, else a budget; never both, which is refused. */
function writeThinking(writing: TurnWriting, generation: ModelGeneration): object | null {
  const { reasoning } = writing.turn.settings;
  if (reasoning === null) return null;
  const shown = reasoning.shown === true ? { includeThoughts: true } : {};
  const known = writing.target.model?.reasoning;
  const knowsLevels =
    (known?.efforts?.length ?? 0) > 0 || (known?.budget == null && generation.knowsThinkingLevels);
  const isSwitchedOff = reasoning.effort === 'none' && known?.mode === 'optional';
  const amount = knowsLevels && !isSwitchedOff ? thinkingLevel(writing, reasoning) : null;
  if (amount !== null) return { ...shown, thinkingLevel: amount };
  const budget = budgetOf(reasoning) ?? (reasoning.isOn === true ? asTheModelLikes : null);
  const most = known?.budget?.max ?? budgetMax;
  const config = { ...shown, ...(budget === null ? {} : { thinkingBudget: Math.min(budget, most) }) };
  return Object.keys(config).length === 0 ? null : config;
}

/** This budget leaves it to the model how much to think. */
const asTheModelLikes = -1;

/** Tokens; what the least of the models takes. */
const budgetMax = 24_576;

const levelEfforts = ['minimal', 'low', 'medium', 'high'] as const;

/** Words at models that are known to take some, else tokens. */
export function thoughtWords({ model, upstreamModel }: TranslationTarget): ThoughtWords {
  const efforts = model?.reasoning.efforts ?? null;
  const takesWords = efforts !== null && efforts.length > 0;
  const isOld = efforts === null && !generationOf(upstreamModel).knowsThinkingLevels;
  const usual = isOld ? { min: 1, max: budgetMax } : null;
  return {
    vocabulary: levelEfforts,
    efforts: levelEfforts,
    isSwitched: true,
    isOffByNone: false,
    budget: takesWords ? null : (model?.reasoning.budget ?? usual),
    usualBudget: null,
  };
}

const levels: Readonly<Record<ReasoningEffort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

function thinkingLevel(writing: TurnWriting, { effort }: ReasoningSetting): string | null {
  if (effort === null) return null;
  const level = levels[effort];
  if (level !== effort.toUpperCase()) writing.changeSetting('reasoning', `thinking level ${level}`);
  return level;
}

function writeFormat(
  writing: TurnWriting,
  format: TurnSettings['outputFormat'],
  generation: ModelGeneration,
): object {
  const responseMimeType = 'application/json';
  switch (format?.kind) {
    case undefined:
    case 'text':
      return {};
    case 'json':
      return { responseMimeType };
    case 'json-schema':
      return { responseMimeType, ...writeSchema(writing, format.schema, generation) };
    default:
      return unreachable(format);
  }
}

/** The schemas that such a model can be held to. */
export function limitsOf({ knowsJsonSchema }: ModelGeneration): SchemaLimits {
  return knowsJsonSchema ? nativeJsonLimits : nativeLimits;
}

/** A schema that would mean something else, such as a map that could only be empty, is refused by the place that is to blame. */
function writeSchema(writing: TurnWriting, schema: WireRecord, generation: ModelGeneration): object {
  const { knowsJsonSchema } = generation;
  const obstacle = findObstacle(schema, limitsOf(generation));
  if (obstacle !== null) {
    const part = obstacle === '' ? 'the schema as a whole' : `\`${obstacle}\` of its schema`;
    writing.refuse(
      spellingOf(writing.turn, 'outputFormat'),
      `${part} cannot be said there: write it otherwise`,
    );
  }
  if (!knowsJsonSchema) return { responseSchema: toNativeSchema(schema) };
  if (writing.surface === generateContentSurface) return { responseJsonSchema: schema };
  const { schema: responseJsonSchema, isLooser } = nativeJsonSchema(schema);
  if (isLooser) writing.changeSetting('outputFormat', 'some constraints are not enforced');
  return { responseJsonSchema };
}

/** One for all images: as close as the one that is to be looked at most closely. */
function mediaResolution({ messages }: Turn): string | null {
  const details = messages.flatMap(({ content }) =>
    content.filter((block): block is MediaBlock => block.kind === 'media').map(({ detail }) => detail),
  );
  if (details.includes('high')) return 'MEDIA_RESOLUTION_HIGH';
  return details.length > 0 && details.every((detail) => detail === 'low') ? 'MEDIA_RESOLUTION_LOW' : null;
}
