import type { Codec, TranslationTarget } from '../codec.ts';
import type { Trait, Turn, TurnSettingName } from '../turn.ts';
import type { SchemaSupport } from './json-schema/obstacles.ts';
import { isAsked, type SettingSupport, settingNames, type TraitSupport, traitsOf } from './losses.ts';
import { fitSettings, isThinking } from './model-fit.ts';

/** All that a codec declares of how an upstream of its protocol takes a request. */
export interface Support {
  readonly settings: SettingSupport;
  readonly traits: TraitSupport;
  /** Thoughts come back with what the model needs to go on from them. */
  readonly thoughts: 'carried' | 'dropped';
  /** The schema of the answer, where the request has one. */
  readonly schema: SchemaSupport;
}

/** One protocol in which a target may be asked. */
export interface Way {
  readonly codec: Codec;
  readonly target: TranslationTarget;
}

/** More than all that could be lost together: the upstream cannot be asked for this at all. */
const refusedWeight = 100_000;

/** Thoughts and caches of the session so far would be lost. */
const strandedWeight = 1_000;

/** More than one setting that only steers the answer: a model that thinks is asked where its thoughts are kept. */
const thoughtsWeight = 20;

const settingWeight = 10;

/** Settings that do not change what is answered. */
const hintWeights: Readonly<Partial<Record<TurnSettingName, number>>> = {
  user: 1,
  promptCacheKey: 1,
  metadata: 1,
};

const traitWeights: Readonly<Record<Trait, number>> = {
  'cache-mark': 3,
  'image-detail': 3,
  citations: 1,
  filename: 1,
  'media-name': 1,
  'call-seal': 1,
};

/** The weight of what a request loses at an upstream that takes it so: a guess from what is declared, with nothing written. */
export function weighLosses(turn: Turn, target: TranslationTarget, support: Support): number {
  let weight = support.thoughts === 'dropped' && isThinking(turn, target) ? thoughtsWeight : 0;
  for (const name of settingNames(support.settings)) {
    if (support.settings[name] === 'carried' || !isAsked(turn, name)) continue;
    weight += support.settings[name] === 'refused' ? refusedWeight : (hintWeights[name] ?? settingWeight);
  }
  if (support.schema !== 'carried') weight += support.schema === 'refused' ? refusedWeight : settingWeight;
  for (const trait of traitsOf(turn)) if (support.traits[trait] === 'dropped') weight += traitWeights[trait];
  return weight;
}

/**
 * The ways to ask one target, the one that loses least of this request first; among equals in the order given. A session stays
 * with the protocol in which the model has sealed its thoughts, wherever that can be asked at all.
 */
export function leastLossFirst<Each extends Way>(turn: Turn, ways: readonly Each[]): readonly Each[] {
  const sealed = sealsOf(turn);
  const isSealedIn = ({ target }: Way) => sealed.has(target.origin);
  const isSealed = ways.some(isSealedIn);
  return ways
    .map((way, place) => {
      const { codec, target } = way;
      const stranded = isSealed && !isSealedIn(way) ? strandedWeight : 0;
      const { settings, losses } = fitSettings(turn, target, codec.thoughtWords(target));
      const unfit = losses.length * settingWeight;
      return { way, place, weight: codec.weighLosses({ ...turn, settings }, target) + unfit + stranded };
    })
    .sort((a, b) => a.weight - b.weight || a.place - b.place)
    .map(({ way }) => way);
}

/** The origins of all state that the conversation holds. */
function sealsOf({ messages }: Turn): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) {
      const sealed = block.kind === 'reasoning' || block.kind === 'tool-call' ? block.sealed : null;
      if (sealed !== null) origins.add(sealed.origin);
    }
  }
  return origins;
}
