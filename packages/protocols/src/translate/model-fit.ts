import { type AskedModel, dropped, type Loss, type ThoughtWords, type TranslationTarget } from '../codec.ts';
import type { Fault } from '../error.ts';
import type { Block, MediaKind, Turn, TurnSettingName, TurnSettings } from '../turn.ts';
import { isAsked, spellingOf, unsupported } from './losses.ts';
import { effortOf } from './reasoning-effort.ts';
import { fitThought } from './thought.ts';

/** A request's settings as the model of its target takes them. */
export interface FittedSettings {
  readonly settings: TurnSettings;
  readonly losses: readonly Loss[];
}

/** The settings that models refuse, by the parameter that is known of them. Several answers are not among them: those are carried or refused, never left out. */
const sampling = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  stop: 'stop',
  seed: 'seed',
  logprobs: 'logprobs',
} as const satisfies Readonly<Record<string, TurnSettingName>>;

export type SteeringParameter = keyof typeof sampling;

/** Fits the settings to what is known of the model, before its protocol is spoken: what is not known is left as it is. */
export function fitSettings(turn: Turn, target: TranslationTarget, words: ThoughtWords): FittedSettings {
  const { losses, ...thought } = fitThought(turn, target, words);
  const fitted = { ...turn, settings: { ...turn.settings, ...thought } };
  const refused = (Object.keys(sampling) as SteeringParameter[]) // The keys of a table are those of its type.
    .filter((parameter) => isRefused(fitted, target, parameter));
  const unset = Object.fromEntries(refused.map((parameter) => [sampling[parameter], null]));
  const lost = refused.flatMap((parameter) => {
    const why = wordOn(target, parameter) === false ? 'the model takes none' : 'not taken beside reasoning';
    const name = sampling[parameter];
    return isAsked(turn, name) ? [dropped(spellingOf(turn, name), why)] : [];
  });
  return { settings: { ...fitted.settings, ...unset }, losses: [...losses, ...lost] };
}

function isRefused(turn: Turn, target: TranslationTarget, parameter: SteeringParameter): boolean {
  const taken = wordOn(target, parameter);
  return taken === false || (taken === 'without-thought' && isThinking(turn, target));
}

/** The record's word on a parameter: true where it is taken, at least without thought; null where nothing is known. */
export function wordOn({ model }: TranslationTarget, parameter: SteeringParameter) {
  return model?.parameters[parameter] ?? null;
}

/** The model will think about this request, as far as that can be told. */
export function isThinking({ settings }: Turn, { reasoning: habit }: TranslationTarget): boolean {
  const { reasoning } = settings;
  const isAsked = reasoning !== null && (effortOf(reasoning) !== null || reasoning.isOn === true);
  if (habit === false || !isAsked) return habit === true || habit === 'always';
  return effortOf(reasoning) !== 'none';
}

/** Pictures and sound are refused for a model that is known not to take them: without them it would answer something else. */
export function unreadMedia({ messages, surface }: Turn, model: AskedModel | undefined): Fault | null {
  const reads = model?.inputModalities ?? [];
  if (reads.length === 0 || (reads.includes('image') && reads.includes('audio'))) return null;
  const unread = messages
    .flatMap(({ content }) => content.flatMap(mediaIn))
    .find((kind) => !reads.includes(kind));
  if (unread === undefined) return null;
  return unsupported(
    surface.media[unread],
    `call a model that reads ${unread === 'image' ? 'pictures' : 'sound'}`,
  );
}

/** Files are not looked at: many of them are text. */
function mediaIn(block: Block): readonly Exclude<MediaKind, 'file'>[] {
  if (block.kind === 'tool-result') return block.content.flatMap(mediaIn);
  return block.kind === 'media' && block.media !== 'file' ? [block.media] : [];
}
