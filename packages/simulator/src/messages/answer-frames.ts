import type { Rendering } from '../protocol.ts';
import type { Frame, FrameRole } from '../timeline/frame.ts';
import { frame } from '../timeline/frame.ts';
import { openCall } from './answer-body.ts';
import { type Block, blocksOf } from './blocks.ts';
import { identityOf, signatureOf, stopMembers } from './identity.ts';
import { encodeUsage } from './usage.ts';

/** The stream: its opening, a block after the other with a frame per token, the reason it stopped, the end. */
export function* answerFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  yield event('preamble', 'message_start', { message: openMessage(rendering) });
  yield event('preamble', 'ping', {});
  for (const [index, block] of blocksOf(rendering.answer).entries()) {
    yield* blockFrames(rendering, block, index);
  }
  yield event('finish', 'message_delta', { delta: stopMembers(rendering), ...finalUsage(rendering) });
  yield event('terminal', 'message_stop', {});
}

function event(role: FrameRole, type: string, members: object): Frame {
  return frame(role, `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
}

function openMessage(rendering: Rendering) {
  const { command, answer } = rendering;
  const isSilent = command.usage === 'never' || command.usage === 'finish';
  const output = { output_tokens: Math.min(1, answer.usage.completion), output_tokens_details: undefined };
  return {
    ...identityOf(rendering),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    ...(isSilent ? {} : { usage: { ...encodeUsage(answer.usage), ...output } }),
  };
}

/** Cumulative, and the last word on everything the opening said. */
function finalUsage({ command, answer }: Rendering) {
  return command.usage === 'never' ? {} : { usage: encodeUsage(answer.usage) };
}

function* blockFrames(rendering: Rendering, block: Block, index: number): Generator<Frame, void, undefined> {
  // The name of a called tool is a token; the opening of any other block is empty.
  const role = block.kind === 'tool_use' ? 'content' : 'preamble';
  yield event(role, 'content_block_start', { index, content_block: openBlock(rendering, block) });
  for (const piece of block.pieces) {
    yield event('content', 'content_block_delta', { index, delta: encodePiece(block.kind, piece) });
  }
  if (block.kind === 'thinking') {
    const delta = { type: 'signature_delta', signature: signatureOf(rendering) };
    yield event('preamble', 'content_block_delta', { index, delta });
  }
  yield event('preamble', 'content_block_stop', { index });
}

function openBlock(rendering: Rendering, block: Block): object {
  switch (block.kind) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'text':
      return { type: 'text', text: '' };
    case 'tool_use':
      return openCall(rendering, block);
  }
}

function encodePiece(kind: Block['kind'], text: string): object {
  switch (kind) {
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    case 'text':
      return { type: 'text_delta', text };
    case 'tool_use':
      return { type: 'input_json_delta', partial_json: text };
  }
}
