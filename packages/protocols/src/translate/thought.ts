import { changed, type Loss, type ThoughtWords, type TokenRange, type TranslationTarget } from '../codec.ts';
import type { ReasoningEffort, ReasoningSetting, Turn } from '../turn.ts';
import { spellingOf } from './losses.ts';
import { budgetOf, effortOf, nearestEffort } from './reasoning-effort.ts';

/** A caller's word on thought and its limit, as a target takes them. */
export interface FittedThought {
  readonly reasoning: ReasoningSetting | null;
  readonly maxOutputTokens: number | null;
  readonly losses: readonly Loss[];
}

/** A caller's wish in the words, or the tokens, of the model. */
interface Told {
  readonly reasoning: ReasoningSetting | null;
  /** Null where it is what the caller has asked for. */
  readonly note: string | null;
}

/** How much is to be thought, within what the model takes; a budget comes on top of the tokens that are left to the answer. */
export function fitThought(turn: Turn, target: TranslationTarget, words: ThoughtWords): FittedThought {
  const { reasoning } = turn.settings;
  if (reasoning === null || target.reasoning === false) return limited(turn, target, reasoning);
  const asksForNone = effortOf(reasoning) === 'none';
  const { reasoning: told, note } = (asksForNone ? withoutThought : withThought)(reasoning, target, words);
  const losses = note === null ? [] : [changed(spellingOf(turn, 'reasoning'), note)];
  const isBudget = told !== null && told.effort === null && told.budgetTokens !== null;
  const fitted =
    isBudget && words.budget !== null
      ? besideAnswer(turn, target, words.budget, told)
      : limited(turn, target, told);
  return { ...fitted, losses: [...losses, ...fitted.losses] };
}

/** A model that cannot but think would refuse to be told not to: it is asked for the least it takes. */
function withoutThought(asked: ReasoningSetting, target: TranslationTarget, words: ThoughtWords): Told {
  const known = target.model?.reasoning;
  const accepted = acceptedWords(target, words);
  const isAlways = target.reasoning === 'always';
  const isSaid = words.isSwitched || words.isOffByNone || accepted.includes('none');
  if (!isAlways && isSaid) return { reasoning: asked, note: null };
  // The least effort would have it think, which it does not unless it is asked to.
  if (target.reasoning === 'asked') return { reasoning: null, note: null };
  const why = isAlways ? 'the model always thinks' : 'the model cannot be told not to think';
  const least = (known?.efforts ?? null) === null ? null : nearestEffort('none', accepted.filter(isSome));
  const budget = known?.budget == null ? null : words.budget;
  if (budget !== null)
    return {
      reasoning: { ...asked, effort: null, budgetTokens: budget.min },
      note: `${why}; a budget of ${budget.min} tokens`,
    };
  if (least === null) return { reasoning: null, note: why };
  return { reasoning: { ...asked, effort: least, budgetTokens: null }, note: `${why}; ${least} effort` };
}

/** The usual amount where a model has to be told one, and its caller wants thought and does not say how much. */
const usualEffort = 'medium';

function withThought(asked: ReasoningSetting, target: TranslationTarget, words: ThoughtWords): Told {
  const known = target.model?.reasoning;
  if (known === undefined) return { reasoning: asked, note: null };
  if (words.budget !== null) return byBudget(asked, words.budget, words.usualBudget);
  const accepted = acceptedWords(target, words).filter(isSome);
  const isLeftOpen = effortOf(asked) === null;
  // Records of models that a word switches off do not tell if they think to begin with.
  const isOnAnyway = target.reasoning !== 'asked' && !words.isOffByNone;
  const thinksAnyway = isOnAnyway || words.isSwitched;
  if (isLeftOpen && (asked.isOn !== true || thinksAnyway)) return { reasoning: asked, note: null };
  const effort = nearestEffort(effortOf(asked) ?? usualEffort, accepted);
  const note = effort === null ? 'as much as the model likes' : `${effort} effort`;
  const told = { effort, budgetTokens: null, shown: asked.shown };
  return {
    reasoning:
      effort === null && (!words.isSwitched || target.reasoning === 'always')
        ? told
        : { ...told, isOn: true },
    note: effort !== null && effort === asked.effort ? null : note,
  };
}

/** The words that the protocol has for what the model takes. */
function acceptedWords({ model }: TranslationTarget, words: ThoughtWords): readonly ReasoningEffort[] {
  return (model?.reasoning.efforts ?? words.efforts).filter((effort) => words.vocabulary.includes(effort));
}

function isSome(effort: string): boolean {
  return effort !== 'none';
}

function byBudget(asked: ReasoningSetting, range: TokenRange, usual: number | null): Told {
  const wanted = budgetOf(asked) ?? (asked.isOn === true ? usual : null);
  if (wanted === null) return { reasoning: asked, note: null };
  const budgetTokens = Math.min(Math.max(Math.round(wanted), range.min), range.max);
  const isAsAsked = asked.budgetTokens === null || budgetTokens === asked.budgetTokens;
  return {
    reasoning: { ...asked, effort: null, budgetTokens },
    note: isAsAsked ? null : `a budget of ${budgetTokens} tokens`,
  };
}

/** Tokens of an answer that a budget leaves at least, where nobody has said how long the answer may be. */
const answerMin = 1_024;

/**
 * The limit covers thoughts and answer. Who asks for an effort, or for a budget as large as the limit, means the answer by it: then
 * the budget comes on top, as far as the model can write so much. What is left of the budget then is sent.
 */
function besideAnswer(
  turn: Turn,
  target: TranslationTarget,
  { min }: TokenRange,
  told: ReasoningSetting,
): FittedThought {
  const { maxOutputTokens: limit, reasoning } = turn.settings;
  const most = target.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const budget = told.budgetTokens ?? 0;
  const named = reasoning?.budgetTokens ?? null;
  const isWithin = limit !== null && named !== null && named < limit;
  const answer = limit === null ? answerMin : isWithin ? limit - named : limit;
  // A model that takes a smaller budget keeps the limit: thought that is saved is the answer's.
  const total = Math.min(Math.max(budget + answer, limit ?? 0), most);
  const left = Math.min(budget, total - Math.min(answer, Math.max(total - min, 1)));
  if (left < Math.max(min, 1)) return withoutRoom(turn, target, told);
  const sum = limit === null ? {} : { limitTokens: total };
  const { losses, ...fitted } = limited(turn, target, { ...told, budgetTokens: left, ...sum });
  if (left >= budget) return { ...fitted, losses };
  const shrunk = changed(spellingOf(turn, 'reasoning'), `a budget of ${left} tokens, beside the answer`);
  return { ...fitted, losses: [shrunk, ...losses] };
}

function withoutRoom(turn: Turn, target: TranslationTarget, told: ReasoningSetting): FittedThought {
  const isAlways = target.reasoning === 'always';
  const note = isAlways ? 'as much as the model likes' : 'off, since the model has no room for it';
  const { losses, ...fitted } = limited(
    turn,
    target,
    isAlways ? null : { ...told, effort: 'none', budgetTokens: null },
  );
  return { ...fitted, losses: [changed(spellingOf(turn, 'reasoning'), note), ...losses] };
}

/** More than the model can write is refused by some vendors, and means nothing at the others. */
function limited(turn: Turn, target: TranslationTarget, reasoning: ReasoningSetting | null): FittedThought {
  const { maxOutputTokens: limit } = turn.settings;
  const most = target.maxOutputTokens;
  if (limit === null || most === null || limit <= most)
    return { reasoning, maxOutputTokens: limit, losses: [] };
  const losses = [changed(spellingOf(turn, 'maxOutputTokens'), `limited to ${most}`)];
  return { reasoning, maxOutputTokens: most, losses };
}
