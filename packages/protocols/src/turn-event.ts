import type { Block, Citation, MediaBlock, Sealed } from './turn.ts';
import type { Usage } from './usage.ts';
import { byWord } from './wire-values.ts';

/**
 * An answer as it comes, in no protocol's words. The order is always: `start`, then each block from its `block-start`
 * over its deltas to its `block-stop` before the next one starts (whoever reads an upstream that mixes them sorts them,
 * see `BlockSequencer`), then `finish`. Exactly one `start` and, in an answer that is whole, exactly one `finish`.
 */
export type TurnEvent =
  | {
      readonly kind: 'start';
      /** The upstream's name for the answer; null when it gives none. */
      readonly answerId: string | null;
      /** The upstream's word for the model. */
      readonly model: string | null;
      /** The upstream's count of the input before any output; null for most. */
      readonly usage: Usage | null;
    }
  | { readonly kind: 'block-start'; readonly block: OpenBlock }
  | { readonly kind: 'delta'; readonly delta: BlockDelta }
  | { readonly kind: 'block-stop' }
  | ({ readonly kind: 'finish' } & Finish);

/** A block as it opens: what it is, without what its deltas will add. Media comes whole. */
export type OpenBlock =
  | { readonly kind: 'text' | 'reasoning' | 'refusal' }
  | {
      readonly kind: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly namespace: string | null;
      readonly form: 'function' | 'custom';
    }
  | MediaBlock;

/** An addition to the block that is open. `text` is for text, reasoning, refusal and the input of a tool call alike. */
export type BlockDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'citation'; readonly citation: Citation }
  | { readonly kind: 'sealed'; readonly sealed: Sealed };

/** How an answer ended. */
export interface Finish {
  readonly reason: FinishReason;
  /** The upstream's own word. */
  readonly rawReason: string | null;
  /** The text that stopped it, if one of the caller's did and the upstream says which. */
  readonly stopSequence: string | null;
  readonly usage: Usage | null;
}

export const noFinish: Finish = { reason: 'unknown', rawReason: null, stopSequence: null, usage: null };

/** A whole answer. */
export interface TurnAnswer {
  readonly answerId: string | null;
  readonly model: string | null;
  readonly content: readonly Block[];
  readonly finish: Finish;
  /** Further answers to the same request; left out for most. */
  readonly others?: readonly TurnAnswer[];
}

/** Why the model stopped, unified, beside the upstream's own word. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'error'
  | 'unknown';

/** The words servers use for why they stopped: those of every protocol, since compatible ones mix them. */
const finishReasons: ReadonlyMap<string, FinishReason> = byWord({
  stop: 'stop eos end_turn stop_sequence pause_turn completed compaction',
  length: 'length max_tokens max_output_tokens model_length model_context_window_exceeded',
  'tool-calls': 'tool_calls function_call tool_use',
  'content-filter': 'content_filter safety',
  refusal: 'refusal',
  error: `
    error insufficient_system_resource function_call_filter malformed_function_call unexpected_tool_call
    too_many_tool_calls malformed_response malformed_tool_use malformed_model_output`,
});

/** Some servers put the vendor's own word behind a colon. */
export function readFinishReason(raw: string): FinishReason {
  const word = raw.toLowerCase();
  return finishReasons.get(word) ?? finishReasons.get(word.slice(0, word.indexOf(':'))) ?? 'unknown';
}
