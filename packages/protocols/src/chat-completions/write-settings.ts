import type { AskedModel, ThoughtWords, TranslationTarget } from '../codec.ts';
import type { Dialect } from '../request.ts';
import { unreachable } from '../result.ts';
import { choicesSupport } from '../translate/choices.ts';
import { adviceSupport, enforce } from '../translate/json-schema/strict-schema.ts';
import { weighLosses } from '../translate/least-loss.ts';
import type { SettingSupport, TraitSupport } from '../translate/losses.ts';
import { isThinking, type SteeringParameter, wordOn } from '../translate/model-fit.ts';
import { effortOf, efforts, nearestEffort } from '../translate/reasoning-effort.ts';
import { legalName, type NameRule } from '../translate/tools.ts';
import { type SchemaFormat, TurnWriting, writeOutputFormat } from '../translate/writing.ts';
import type { Turn, TurnSettingName, TurnSettings } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { callIdRule, chatSurface, nineLetterId } from './wire.ts';

const toolRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 64 };

/** One request while it is written, for the protocol's inventors or for a server that shares no more than all do. */
export class ChatWriting extends TurnWriting {
  constructor(turn: Turn, target: TranslationTarget) {
    super(turn, target, toolRule);
  }

  /** The caller wrote it in this protocol, so that it may stay as it is. */
  get isOwn(): boolean {
    return this.turn.surface === chatSurface;
  }

  /** All of the protocol may be used, and not only what compatible servers share. */
  get knowsAll(): boolean {
    return this.isOwn || this.target.dialect.chatVocabulary === 'own';
  }

  /** An id as it is sent, for a call and for its result alike. */
  callId(id: string): string {
    if (this.target.dialect.callIds === 'any') return legalName(id, callIdRule);
    return nineLetterId(id);
  }
}

/** The name of a schema, made legal as tools' names are. */
export function schemaName(name: string | null): string {
  return legalName(name ?? 'answer', toolRule);
}

/** Characters of the caller's own user that are sent; callers of other protocols put whole objects there. */
const userCharsMax = 64;

/** The same short word for the same user. */
function shortUser(user: string): string {
  return legalName(user, { ...toolRule, lengthMax: userCharsMax });
}

/** Caches of this protocol need no marks. */
const traitSupport: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'dropped',
  'image-detail': 'carried',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

/** The weight of what a request of another protocol loses here. The inventors of this one keep thoughts to themselves. */
export function weighChatLosses(turn: Turn, target: TranslationTarget): number {
  const knowsAll = target.dialect.chatVocabulary === 'own';
  const asked = { turn, target, isOwn: false, knowsAll };
  const settings = supportOf(asked);
  const effective = { ...turn, settings: effectiveSettings(asked, settings) };
  const thoughts = knowsAll ? 'dropped' : 'carried';
  return weighLosses(effective, target, {
    settings,
    traits: traitSupport,
    thoughts,
    schema: adviceSupport(turn),
  });
}

const stopMax = 4;

/** A setting if it is to be sent, else null. */
type Carried = <Name extends TurnSettingName>(name: Name) => TurnSettings[Name] | null;

/** The members of a request that are settings; what is undefined is not sent. */
export function writeSettings(writing: ChatWriting): WireRecord {
  const support = supportOf(writing);
  const settings = effectiveSettings(writing, support);
  writing.noteLosses(chatSurface, support, traitSupport, { ...writing.turn, settings });
  const carried: Carried = (name) => (support[name] === 'carried' ? settings[name] : null);
  const outputFormat = carried('outputFormat');
  const nested = (format: SchemaFormat) => ({ json_schema: writeSchema(writing, format) });
  return {
    ...writeLimit(writing, carried('maxOutputTokens')),
    ...writeSampling(carried),
    stop: writeStop(writing, carried('stop')),
    n: carried('choices') ?? undefined,
    ...writeThought(writing, carried('reasoning')),
    response_format: outputFormat === null ? undefined : writeOutputFormat(outputFormat, nested),
    verbosity: carried('verbosity') ?? undefined,
    user: writeUser(writing, carried('user')),
    service_tier: carried('serviceTier') ?? undefined,
    prompt_cache_key: carried('promptCacheKey') ?? undefined,
    metadata: carried('metadata') ?? undefined,
  };
}

/** The things that decide how settings are taken. */
type Asked = Pick<ChatWriting, 'turn' | 'target' | 'isOwn' | 'knowsAll'>;

function supportOf(asked: Asked): SettingSupport {
  const { isOwn, knowsAll, target, turn } = asked;
  const isSampled = !isThinkingByRules(asked);
  const isTaken = (parameter: SteeringParameter) => isSampled || wordOn(target, parameter) !== null;
  const sampled = (parameter: SteeringParameter) => (isTaken(parameter) ? 'carried' : 'dropped');
  const ownOnly = isOwn ? 'carried' : 'dropped';
  const known = knowsAll ? 'carried' : 'dropped';
  return {
    maxOutputTokens: 'carried',
    temperature: sampled('temperature'),
    topP: sampled('top_p'),
    topK: ownOnly,
    stop: isTaken('stop') ? 'carried' : 'refused',
    seed: 'carried',
    presencePenalty: sampled('presence_penalty'),
    frequencyPenalty: sampled('frequency_penalty'),
    // An answer has no place for them on its way to a caller of another protocol.
    logprobs: ownOnly,
    choices: isOwn
      ? 'carried'
      : choicesSupport(turn.settings.choices, target.model?.parameters['n'] === false),
    parallelToolCalls: 'carried',
    reasoning: isOwn || target.reasoning ? 'carried' : 'dropped',
    outputFormat: 'carried',
    verbosity: known,
    // Some servers refuse every member they do not know, and agents name a user with each request.
    user: known,
    serviceTier: known,
    promptCacheKey: known,
    // Only for answers that the vendor is asked to keep.
    metadata: ownOnly,
  };
}

/** The protocol's inventors let these models think, and keep them from being sampled otherwise. */
export function isThinkingByRules({ isOwn, target, turn }: Omit<Asked, 'knowsAll'>): boolean {
  return !isOwn && target.dialect.chatVocabulary === 'own' && isThinking(turn, target);
}

/** Without what asks for no more than happens anyway. */
function effectiveSettings(
  { turn: { settings }, isOwn }: Pick<Asked, 'turn' | 'isOwn'>,
  support: SettingSupport,
): TurnSettings {
  if (isOwn) return settings;
  const { temperature, topP, choices, reasoning } = settings;
  const asksNoThought = reasoning !== null && effortOf(reasoning) === 'none';
  return {
    ...settings,
    temperature: support.temperature === 'dropped' && temperature === 1 ? null : temperature,
    topP: support.topP === 'dropped' && topP === 1 ? null : topP,
    choices: choices === 1 ? null : choices,
    reasoning: support.reasoning === 'dropped' && asksNoThought ? null : reasoning,
  };
}

function writeLimit({ target, knowsAll }: ChatWriting, tokens: number | null): WireRecord {
  if (tokens === null) return {};
  const { maxTokensField } = target.dialect;
  const usual =
    knowsAll || target.model?.parameters['max_tokens'] === false ? 'max_completion_tokens' : 'max_tokens';
  return { [maxTokensField === 'both' ? usual : maxTokensField]: tokens };
}

function writeSampling(carried: Carried): WireRecord {
  const alternatives = carried('logprobs');
  return {
    temperature: carried('temperature') ?? undefined,
    top_p: carried('topP') ?? undefined,
    top_k: carried('topK') ?? undefined,
    seed: carried('seed') ?? undefined,
    presence_penalty: carried('presencePenalty') ?? undefined,
    frequency_penalty: carried('frequencyPenalty') ?? undefined,
    ...(alternatives === null ? {} : { logprobs: true, top_logprobs: alternatives }),
  };
}

function writeStop(writing: ChatWriting, stop: TurnSettings['stop']): readonly string[] | undefined {
  if (stop === null || stop.length === 0) return undefined;
  if (writing.isOwn || stop.length <= stopMax) return stop;
  writing.changeSetting('stop', `the first ${stopMax} only`);
  return stop.slice(0, stopMax);
}

/** The model is known to think, or to do so where it is asked. */
export function isThoughtful({ reasoning: { mode } }: AskedModel): boolean {
  return mode === 'optional' || mode === 'always';
}

/** The members that ask a model that thinks for as little thought as it takes. */
export function writeLeastThought({ thoughtSwitch }: Dialect, known: AskedModel): WireRecord {
  const { mode, efforts: accepted } = known.reasoning;
  const isOptional = mode === 'optional';
  if (isOptional && thoughtSwitch === 'none') return { reasoning_effort: 'none' };
  if (isOptional && thoughtSwitch === 'thinking') return { thinking: { type: 'disabled' } };
  if (isOptional && thoughtSwitch === 'enable_thinking') return { enable_thinking: false };
  if (!isThoughtful(known)) return {};
  const least = nearestEffort(
    'none',
    (accepted ?? []).filter((effort) => isOptional || effort !== 'none'),
  );
  return least === null ? {} : { reasoning_effort: least };
}

/** Such a server switches every model off by the word that need not think, though records name only what a model takes to think. */
function takesNone({ thoughtSwitch }: Dialect, model: AskedModel | undefined): boolean {
  return thoughtSwitch === 'none' && model?.reasoning.mode === 'optional';
}

const commonEfforts = ['none', 'low', 'medium', 'high'] as const;

/** Efforts; a server with a switch of its own takes them of those models only that are known to take some. */
export function thoughtWords({ dialect, model }: TranslationTarget): ThoughtWords {
  const isOffByNone = takesNone(dialect, model);
  const isSwitched = dialect.thoughtSwitch !== 'effort' && dialect.thoughtSwitch !== 'none';
  const common = dialect.chatVocabulary === 'own' ? efforts : commonEfforts;
  const takesWords = (model?.reasoning.efforts?.length ?? 0) > 0;
  const takesBudget = dialect.thoughtSwitch === 'enable_thinking' && !takesWords;
  const range = model?.reasoning.budget ?? { min: 1, max: Number.POSITIVE_INFINITY };
  return {
    vocabulary: efforts,
    efforts: isSwitched ? [] : common,
    isSwitched,
    isOffByNone,
    budget: takesBudget ? range : null,
    usualBudget: null,
  };
}

function writeThought(writing: ChatWriting, reasoning: TurnSettings['reasoning']): WireRecord {
  if (reasoning === null) return {};
  const { dialect, reasoning: habit } = writing.target;
  const { budgetTokens, isOn } = reasoning;
  const isByWord = dialect.thoughtSwitch === 'effort' || dialect.thoughtSwitch === 'none';
  const effort = isByWord ? effortOf(reasoning) : reasoning.effort;
  const some = effort === null || effort === 'none' ? {} : { reasoning_effort: effort };
  const isSaid = (effort !== null || budgetTokens !== null || isOn === true) && habit !== 'always';
  switch (dialect.thoughtSwitch) {
    case 'effort':
    case 'none':
      if (effort !== null && reasoning.effort === null)
        writing.changeSetting('reasoning', `sent as ${effort} effort`);
      return effort === null ? {} : { reasoning_effort: effort };
    case 'thinking':
      return isSaid ? { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' }, ...some } : some;
    case 'enable_thinking': {
      const budget = budgetTokens === null ? {} : { thinking_budget: budgetTokens };
      return isSaid ? { enable_thinking: effort !== 'none', ...budget, ...some } : { ...budget, ...some };
    }
    default:
      return unreachable(dialect.thoughtSwitch);
  }
}

function writeUser(writing: ChatWriting, user: string | null): string | undefined {
  if (user === null || writing.isOwn || user.length <= userCharsMax) return user ?? undefined;
  writing.changeSetting('user', 'shortened');
  return shortUser(user);
}

/** Other protocols hold the model to every schema; this one to those that are strict. */
function writeSchema(writing: ChatWriting, format: SchemaFormat): WireRecord {
  const { schema, strict } = format;
  const described = { name: schemaName(format.name), description: format.description ?? undefined };
  if (writing.turn.surface.enforcesSchemas) return { ...described, schema, strict: strict ?? undefined };
  const enforced = enforce({ schema, strict: strict !== false }, writing.turn.surface);
  if (!enforced.strict && strict !== false)
    writing.changeSetting('outputFormat', 'asked for, but not enforced');
  return { ...described, ...enforced };
}
