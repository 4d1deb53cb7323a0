import { type CallRun, onlyChoice, type Run, runsOf, type SimulatedUsage } from '../answer/answer.ts';
import { parseJson } from '../json.ts';
import { idOf, padded, type Rendering } from '../protocol.ts';
import { type Frame, type FrameRole, frame } from '../timeline.ts';

/** The whole answer as one JSON object. */
export function answerBody(rendering: Rendering): string {
  const { answer, command } = rendering;
  return JSON.stringify({
    ...identityOf(rendering),
    content: runsOf(answer).map((run) => encodeBlock(rendering, run)),
    ...stopMembers(rendering),
    ...(command.usage === 'never' ? {} : { usage: encodeUsage(answer.usage) }),
  });
}

function encodeBlock(rendering: Rendering, run: Run): object {
  const text = run.pieces.join('');
  switch (run.kind) {
    case 'reasoning':
      return { type: 'thinking', thinking: text, signature: signatureOf(rendering) };
    case 'text':
    case 'refusal':
      return { type: 'text', text, citations: null };
    case 'call':
      return { ...openCall(rendering, run), input: inputOf(text) };
  }
}

/** A call before its arguments have come. */
function openCall(rendering: Rendering, { call, tool }: CallRun) {
  const caller = { type: 'direct' };
  return { type: 'tool_use', id: callId(rendering, call), name: tool.name, input: {}, caller };
}

/** Arguments that the limit has cut off are no JSON any more; a whole answer then has none. */
function inputOf(text: string): unknown {
  return parseJson(text) ?? {};
}

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

/** The usage object with every member the protocol has, zeros included. Its input excludes what the cache did. */
function encodeUsage({ prompt, cached, cacheWrite, cacheWrite1h, completion, reasoning }: SimulatedUsage) {
  return {
    input_tokens: prompt - cached - cacheWrite - cacheWrite1h,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: completion,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: 'standard',
  };
}

function identityOf({ ask, command, stamp }: Rendering) {
  return {
    id: idOf('msg_', stamp),
    type: 'message',
    role: 'assistant',
    model: command.served ?? ask.model,
  };
}

/** Unique in one simulator: its request and the call's number. */
function callId({ stamp }: Rendering, call: number): string {
  return idOf('toolu_', stamp, call);
}

/** Opaque to everyone but the simulator, and the same for the same request. */
function signatureOf({ stamp }: Rendering): string {
  return `c2ltdWxhdGVk${padded(stamp)}+/==`;
}

/** Why the answer stopped, as the members that say so in a whole answer and in `message_delta`. */
function stopMembers(rendering: Rendering) {
  const { command, answer } = rendering;
  const natural = stopReason(answer);
  const reason = command.finish === undefined ? natural : command.finish;
  const details = natural === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
  return { stop_reason: reason, stop_sequence: null, stop_details: details };
}

function stopReason(answer: Rendering['answer']): string {
  const { tokens, finish } = onlyChoice(answer);
  if (finish === 'length') return 'max_tokens';
  if (tokens.some((token) => token.kind === 'call')) return 'tool_use';
  return tokens.some((token) => token.kind === 'refusal') ? 'refusal' : 'end_turn';
}
