import type { TranslationTarget } from '../../codec.ts';
import { budgetOf, effortOf } from '../../translate/reasoning-effort.ts';
import { spellingOf } from '../../translate/setting-losses.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type { ReasoningSetting, Turn } from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';

/** How a request asks for thought. */
export interface Thinking {
  readonly isOn: boolean;
  /** Null where nothing is said of it. */
  readonly thinking: WireRecord | null;
  readonly effort: string | null;
}

/** What else of the request bears on it. */
export interface ThinkingContext {
  readonly target: TranslationTarget;
  /** Tokens. */
  readonly maxTokens: number;
  /** Whether the conversation stands in the middle of a use of tools whose thoughts are not at hand. */
  readonly isLoopUnsigned: boolean;
}

const silent: Thinking = { isOn: false, thinking: null, effort: null };
const off: Thinking = { isOn: false, thinking: { type: 'disabled' }, effort: null };

/** The vendor takes no smaller budget. Tokens. */
const budgetMin = 1_024;
/** For a caller that asks for thought and not for how much. Tokens. */
const budgetDefault = 8_192;

/** Whether the model is told how much to think in tokens and takes a temperature; later ones take a word for it, and none. */
export function thinksByBudget({ upstreamModel, dialect }: TranslationTarget): boolean {
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
