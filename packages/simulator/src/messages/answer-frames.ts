import { type Run, runsOf } from '../answer/runs.ts';
import type { Rendering } from '../protocol.ts';
import type { Frame, FrameRole } from '../timeline/frame.ts';
import { frame } from '../timeline/frame.ts';
import { openCall } from './answer-body.ts';
import { identityOf, signatureOf, stopMembers } from './identity.ts';
import { encodeUsage } from './usage.ts';

/** The stream: its opening, a block after the other with a frame per token, the reason it stopped, the end. */
export function* answerFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  yield event('preamble', 'message_start', { message: openMessage(rendering) });
  yield event('preamble', 'ping', {});
  for (const [index, run] of runsOf(rendering.answer).entries()) {
    yield* blockFrames(rendering, run, index);
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

function* blockFrames(rendering: Rendering, run: Run, index: number): Generator<Frame, void, undefined> {
  // The name of a called tool is a token; the opening of any other block is empty.
  const role = run.kind === 'call' ? 'content' : 'preamble';
  yield event(role, 'content_block_start', { index, content_block: openBlock(rendering, run) });
  for (const piece of run.pieces) {
    yield event('content', 'content_block_delta', { index, delta: encodePiece(run.kind, piece) });
  }
  if (run.kind === 'reasoning') {
    const delta = { type: 'signature_delta', signature: signatureOf(rendering) };
    yield event('preamble', 'content_block_delta', { index, delta });
  }
  yield event('preamble', 'content_block_stop', { index });
}

function openBlock(rendering: Rendering, run: Run): object {
  switch (run.kind) {
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' };
    case 'call':
      return openCall(rendering, run);
  }
}

function encodePiece(kind: Run['kind'], text: string): object {
  switch (kind) {
    case 'reasoning':
      return { type: 'thinking_delta', thinking: text };
    case 'text':
    case 'refusal':
      return { type: 'text_delta', text };
    case 'call':
      return { type: 'input_json_delta', partial_json: text };
  }
}
