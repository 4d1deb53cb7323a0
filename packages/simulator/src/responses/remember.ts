import { countWords } from '../answer/ask.ts';
import type { Run } from '../answer/runs.ts';
import { runsOf } from '../answer/runs.ts';
import type { Conversations, KeptItem } from '../conversations.ts';
import type { Rendering } from '../protocol.ts';
import { callId, itemId, responseId } from './identity.ts';
import { conversationTokens } from './input-items.ts';

/** Keeps the answer for requests that continue it, unless this one asked not to. */
export function remember(rendering: Rendering, earlier: Conversations): void {
  if (rendering.body['store'] === false) return;
  earlier.keep({
    id: responseId(rendering.stamp),
    tokensBefore: conversationTokens(rendering.body, earlier),
    items: runsOf(rendering.answer).map((run, index) => keptItem(rendering, run, index)),
  });
}

/** It counts as much as when it is sent again: its words, and nothing for reasoning and calls. */
function keptItem(rendering: Rendering, run: Run, index: number): KeptItem {
  const isSaid = run.kind === 'text' || run.kind === 'refusal';
  return {
    id: itemId(rendering, run, index),
    tokens: isSaid ? countWords(run.pieces.join('')) : 0,
    callId: run.kind === 'call' ? callId(rendering, run.call) : null,
  };
}
