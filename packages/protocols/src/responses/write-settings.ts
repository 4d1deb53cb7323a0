import type { Loss, TranslationTarget } from '../codec.ts';
import { changed, dropped } from '../codec.ts';
import type { Fault } from '../error.ts';
import { unreachable } from '../result.ts';
import { enforce } from '../translate/json-schema/strict-schema.ts';
import { type SettingSupport, spellingOf, unsupported } from '../translate/losses.ts';
import { effortOf } from '../translate/reasoning-effort.ts';
import { legalName, type NameRule } from '../translate/tools.ts';
import type { OutputFormat, Turn, TurnSettings } from '../turn.ts';
import { nameRule } from './write-tools.ts';

/** The vendor's models that think refuse what steers the choice of tokens, and those that do not refuse what steers thinking. */
export function settingSupport(
  { settings }: Turn,
  { reasoning, dialect }: TranslationTarget,
): SettingSupport {
  const asksNoThought = settings.reasoning !== null && effortOf(settings.reasoning) === 'none';
  const isThinking = reasoning && !asksNoThought;
  const sampling = isThinking && dialect.chatVocabulary === 'own' ? 'dropped' : 'carried';
  return {
    maxOutputTokens: 'carried',
    // A setting that is dropped, but would be so anyway, is no loss: the value that is the default, and no thoughts of a model without.
    temperature: settings.temperature === 1 ? 'carried' : sampling,
    topP: settings.topP === 1 ? 'carried' : sampling,
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

/** The members that settings become; what is null is left to the upstream. */
export function writeSettings(turn: Turn, target: TranslationTarget, notes: WriteNotes): object {
  const { settings } = turn;
  const support = settingSupport(turn, target);
  const carried = (name: 'temperature' | 'topP') =>
    support[name] === 'carried' && settings[name] !== 1 ? settings[name] : null;
  return withoutNulls({
    max_output_tokens: writeLimit(turn, notes),
    temperature: carried('temperature'),
    top_p: carried('topP'),
    reasoning: target.reasoning ? writeReasoning(turn, notes) : null,
    text: writeText(turn, notes),
    safety_identifier: shortened(settings.user),
    prompt_cache_key: shortened(settings.promptCacheKey),
    service_tier: settings.serviceTier,
    metadata: writeMetadata(turn, notes),
  });
}

function withoutNulls(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** Tokens; the vendor takes no fewer. */
const limitMin = 16;

function writeLimit(turn: Turn, notes: WriteNotes): number | null {
  const limit = turn.settings.maxOutputTokens;
  if (limit === null || limit >= limitMin) return limit;
  notes.lose(changed(spellingOf(turn, 'maxOutputTokens'), `raised to ${limitMin}`));
  return limitMin;
}

function writeReasoning(turn: Turn, notes: WriteNotes): object | null {
  const { reasoning } = turn.settings;
  if (reasoning === null) return null;
  const effort = effortOf(reasoning);
  if (reasoning.effort === null && effort !== null)
    notes.lose(changed(spellingOf(turn, 'reasoning'), `as an effort: ${effort}`));
  const isShown = reasoning.shown === true;
  return effort === null && !isShown ? null : withoutNulls({ effort, summary: isShown ? 'auto' : null });
}

function writeText({ settings, surface }: Turn, notes: WriteNotes): object | null {
  const { outputFormat, verbosity } = settings;
  if (outputFormat === null && verbosity === null) return null;
  const format = outputFormat === null ? null : writeFormat(outputFormat, surface, notes);
  return withoutNulls({ format, verbosity });
}

/** A schema stands beside its name here, not within a member of its own. */
function writeFormat(format: OutputFormat, surface: Turn['surface'], notes: WriteNotes): object {
  switch (format.kind) {
    case 'text':
      return { type: 'text' };
    case 'json':
      return { type: 'json_object' };
    case 'json-schema': {
      const { name, description } = format;
      const about = description === null ? {} : { description };
      const legal = legalName(name ?? 'response', nameRule);
      // A schema of the other protocols is enforced unless it is said not to be.
      const enforced = enforce({ ...format, strict: format.strict ?? !surface.enforcesSchemas }, surface);
      if (format.strict === true && !enforced.strict) notes.lose(changed('strict', 'the schema is advice'));
      return { type: 'json_schema', name: legal, ...about, ...enforced };
    }
    default:
      return unreachable(format);
  }
}

const wordRule: NameRule = { legal: /^[\s\S]$/u, legalFirst: /^[\s\S]$/u, lengthMax: 64 };

/** The vendor knows a user or a cache by a short word; the same long one is the same short one every time. */
function shortened(word: string | null): string | null {
  return word === null ? null : legalName(word, wordRule);
}

function writeMetadata(turn: Turn, notes: WriteNotes): TurnSettings['metadata'] {
  const { metadata } = turn.settings;
  if (metadata === null || isShort(metadata)) return metadata;
  notes.lose(dropped(spellingOf(turn, 'metadata'), 'too large'));
  return null;
}

/** The vendor's limits: pairs, and characters of a name and of a value. */
function isShort(metadata: Readonly<Record<string, string>>): boolean {
  const pairs = Object.entries(metadata);
  return pairs.length <= 16 && pairs.every(([name, value]) => name.length <= 64 && value.length <= 512);
}

/** Notes on a request that is being written: its losses, and the first thing that cannot be sent. */
export class WriteNotes {
  fault: Fault | null = null;
  readonly surface: Turn['surface'];
  readonly #losses = new Map<string, Loss>();

  constructor(surface: Turn['surface']) {
    this.surface = surface;
  }

  get losses(): readonly Loss[] {
    return [...this.#losses.values()];
  }

  lose(loss: Loss): void {
    if (!this.#losses.has(loss.field)) this.#losses.set(loss.field, loss);
  }

  refuse(field: string, remedy?: string): void {
    this.fault ??= unsupported(field, remedy);
  }
}
