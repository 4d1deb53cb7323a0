import { type CallRun, onlyChoice, type Run, runsOf, type SimulatedUsage } from '../answer/answer.ts';
import { countWords } from '../answer/ask.ts';
import type { Conversations, KeptItem } from '../conversations.ts';
import { type JsonRecord, listOf, recordOf } from '../json.ts';
import { idOf, padded, type Rendering, type Stamp } from '../protocol.ts';
import { type Frame, type FrameRole, frame } from '../timeline.ts';
import { conversationTokens } from './read-ask.ts';

interface Event {
  readonly role: FrameRole;
  /** Without the prefix that all of them share. */
  readonly name: string;
  readonly members: object;
}

/** The stream: its opening, an item after the other with a delta per token, and the whole response at the end. */
export function* answerFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  let sequence = 0;
  for (const { role, name, members } of eventsOf(rendering)) {
    yield frame(role, encodeEvent(`response.${name}`, sequence++, members));
  }
}

/** One event as it is sent: its type stands in the frame and in the data. */
export function encodeEvent(type: string, sequence: number, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`;
}

function* eventsOf(rendering: Rendering): Generator<Event, void, undefined> {
  const response = openResponse(rendering);
  yield { role: 'preamble', name: 'created', members: { response } };
  yield { role: 'preamble', name: 'in_progress', members: { response } };
  for (const [index, run] of runsOf(rendering.answer).entries()) yield* itemEvents(rendering, run, index);
  const { status } = endingOf(rendering);
  yield { role: 'terminal', name: status, members: { response: closedResponse(rendering) } };
}

function* itemEvents(rendering: Rendering, run: Run, index: number): Generator<Event, void, undefined> {
  const opening = { output_index: index, item: encodeItem(rendering, run, index, 'opening') };
  // The name of a called tool is a token; the opening of any other item is empty.
  const role = run.kind === 'call' ? 'content' : 'preamble';
  yield { role, name: 'output_item.added', members: opening };
  yield* innerEvents(run, { item_id: itemId(rendering, run, index), output_index: index });
  const whole = { output_index: index, item: encodeItem(rendering, run, index, 'whole') };
  yield { role: 'preamble', name: 'output_item.done', members: whole };
}

function innerEvents(run: Run, place: object): Iterable<Event> {
  switch (run.kind) {
    case 'reasoning':
      return run.pieces.length > 0 ? summaryEvents(run.pieces, { ...place, summary_index: 0 }) : [];
    case 'text':
    case 'refusal':
      return partEvents(run.kind, run.pieces, { ...place, content_index: 0 });
    case 'call':
      return run.tool.kind === 'custom'
        ? textEvents('custom_tool_call_input', 'input', run.pieces, place)
        : textEvents('function_call_arguments', 'arguments', run.pieces, place);
  }
}

function* summaryEvents(pieces: readonly string[], place: object): Generator<Event, void, undefined> {
  const part = encodeSummary('');
  yield { role: 'preamble', name: 'reasoning_summary_part.added', members: { ...place, part } };
  yield* textEvents('reasoning_summary_text', 'text', pieces, place);
  const whole = encodeSummary(pieces.join(''));
  yield { role: 'preamble', name: 'reasoning_summary_part.done', members: { ...place, part: whole } };
}

function* partEvents(
  kind: 'text' | 'refusal',
  pieces: readonly string[],
  place: object,
): Generator<Event, void, undefined> {
  yield { role: 'preamble', name: 'content_part.added', members: { ...place, part: encodePart(kind, '') } };
  if (kind === 'text') yield* textEvents('output_text', 'text', pieces, { ...place, logprobs: [] });
  else yield* textEvents('refusal', 'refusal', pieces, place);
  const part = encodePart(kind, pieces.join(''));
  yield { role: 'preamble', name: 'content_part.done', members: { ...place, part } };
}

/** A text in pieces and then as a whole, under the name its last event gives it. */
function* textEvents(
  family: string,
  member: string,
  pieces: readonly string[],
  place: object,
): Generator<Event, void, undefined> {
  for (const delta of pieces)
    yield { role: 'content', name: `${family}.delta`, members: { ...place, delta } };
  yield { role: 'preamble', name: `${family}.done`, members: { ...place, [member]: pieces.join('') } };
}

/** How far an item has come: opened and empty, or whole. */
type Stage = 'opening' | 'whole';

/** All items of the answer as they are at its end. */
function wholeItems(rendering: Rendering): readonly object[] {
  return runsOf(rendering.answer).map((run, index) => encodeItem(rendering, run, index, 'whole'));
}

function encodeItem(rendering: Rendering, run: Run, index: number, stage: Stage): object {
  const id = itemId(rendering, run, index);
  const status = stage === 'whole' ? finalStatus(rendering, index) : 'in_progress';
  switch (run.kind) {
    case 'reasoning':
      return encodeReasoning(rendering, run, id, stage);
    case 'text':
    case 'refusal': {
      const content = stage === 'whole' ? [encodePart(run.kind, run.pieces.join(''))] : [];
      return { id, type: 'message', status, content, role: 'assistant' };
    }
    case 'call':
      return encodeCall(rendering, run, id, status, stage);
  }
}

/** The only part of a message or of a refusal. */
function encodePart(kind: 'text' | 'refusal', text: string): object {
  return kind === 'text'
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal: text };
}

function encodeSummary(text: string): object {
  return { type: 'summary_text', text };
}

/** Reasoning is summed up when there is any to show, and sealed when the caller asks for that. */
function encodeReasoning(rendering: Rendering, { pieces }: Run, id: string, stage: Stage): object {
  const isShown = stage === 'whole' && pieces.length > 0;
  const wantsSeal = listOf(rendering.body['include']).includes('reasoning.encrypted_content');
  return {
    id,
    type: 'reasoning',
    ...(wantsSeal ? { encrypted_content: sealedReasoning(rendering, stage) } : {}),
    summary: isShown ? [encodeSummary(pieces.join(''))] : [],
  };
}

function encodeCall(rendering: Rendering, run: CallRun, id: string, status: string, stage: Stage): object {
  const { tool, call, pieces } = run;
  const text = stage === 'whole' ? pieces.join('') : '';
  const shared = {
    status,
    call_id: callId(rendering, call),
    name: tool.name,
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
  return tool.kind === 'custom'
    ? { id, type: 'custom_tool_call', input: text, ...shared }
    : { id, type: 'function_call', arguments: text, ...shared };
}

/** The limit cuts the last item off. */
function finalStatus({ answer }: Rendering, index: number): string {
  const isLast = index === runsOf(answer).length - 1;
  return isLast && onlyChoice(answer).finish === 'length' ? 'incomplete' : 'completed';
}

/** How an answer that was not broken ends. */
interface Ending {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

/** The response while its stream is open. */
function openResponse(rendering: Rendering) {
  return responseObject(rendering, { status: 'in_progress' });
}

/** The response at its end, with all its items. */
export function closedResponse(rendering: Rendering) {
  const { answer, command, stamp } = rendering;
  return responseObject(rendering, {
    ...endingOf(rendering),
    completed_at: stamp.createdS,
    output: wholeItems(rendering),
    usage: command.usage === 'never' ? null : encodeUsage(answer.usage),
    service_tier: 'default',
  });
}

export function failedResponse(
  rendering: Rendering,
  error: { readonly code: string; readonly message: string },
) {
  return responseObject(rendering, { status: 'failed', error });
}

/** A finish word of the command is the reason why the answer is incomplete: the protocol knows no other words. */
function endingOf({ answer, command }: Rendering): Ending {
  if (command.finish !== undefined) return incomplete(command.finish);
  return onlyChoice(answer).finish === 'length'
    ? incomplete('max_output_tokens')
    : { status: 'completed', incomplete_details: null };
}

function incomplete(reason: string | null): Ending {
  return { status: 'incomplete', incomplete_details: reason === null ? null : { reason } };
}

/** Every member of the protocol, nulls included; what the request said of them is said back. */
function responseObject(rendering: Rendering, state: object) {
  const { ask, body: request, command, stamp } = rendering;
  return {
    id: responseId(stamp),
    object: 'response',
    created_at: stamp.createdS,
    status: 'in_progress',
    background: request['background'] ?? false,
    completed_at: null,
    error: null,
    frequency_penalty: request['frequency_penalty'] ?? 0,
    incomplete_details: null,
    instructions: request['instructions'] ?? null,
    max_output_tokens: request['max_output_tokens'] ?? null,
    max_tool_calls: request['max_tool_calls'] ?? null,
    model: command.served ?? ask.model,
    output: [],
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    presence_penalty: request['presence_penalty'] ?? 0,
    previous_response_id: request['previous_response_id'] ?? null,
    prompt_cache_key: request['prompt_cache_key'] ?? null,
    prompt_cache_retention: request['prompt_cache_retention'] ?? null,
    reasoning: { effort: null, summary: null, ...recordOf(request['reasoning']) },
    safety_identifier: request['safety_identifier'] ?? null,
    service_tier: request['service_tier'] ?? 'auto',
    store: request['store'] ?? true,
    temperature: request['temperature'] ?? 1,
    text: echoText(recordOf(request['text'])),
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: listOf(request['tools']).map((tool) => echoTool(recordOf(tool))),
    top_logprobs: request['top_logprobs'] ?? 0,
    top_p: request['top_p'] ?? 1,
    truncation: request['truncation'] ?? 'disabled',
    usage: null,
    user: request['user'] ?? null,
    metadata: request['metadata'] ?? {},
    ...state,
  };
}

function echoText(text: JsonRecord) {
  const { format, ...rest } = text;
  const plain = { type: 'text' };
  const encoded =
    recordOf(format)['type'] === 'json_schema'
      ? { description: null, strict: true, ...recordOf(format) }
      : (format ?? plain);
  return { format: encoded, verbosity: 'medium', ...rest };
}

function echoTool(tool: JsonRecord) {
  return tool['type'] === 'function'
    ? { description: null, parameters: null, ...tool, strict: tool['strict'] ?? true }
    : tool;
}

/** The usage object with every member the protocol has, zeros included. Its input includes what the cache did. */
function encodeUsage(usage: SimulatedUsage) {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: {
      cached_tokens: usage.cached,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
    },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.prompt + usage.completion,
  };
}

/** One id for the whole of an answer. */
function responseId(stamp: Stamp): string {
  return idOf('resp_', stamp);
}

/** Unique in one simulator; the prefix tells the kind of item, and the vendor insists on it. */
function itemId({ stamp }: Rendering, run: Run, index: number): string {
  return idOf(`${itemPrefix(run)}_`, stamp, index);
}

function itemPrefix(run: Run): string {
  switch (run.kind) {
    case 'reasoning':
      return 'rs';
    case 'text':
    case 'refusal':
      return 'msg';
    case 'call':
      return run.tool.kind === 'custom' ? 'ctc' : 'fc';
  }
}

/** Unique in one simulator: its request and the call's number. */
function callId({ stamp }: Rendering, call: number): string {
  return idOf('call_', stamp, call);
}

/** Opaque to everyone but the simulator. The value an item opens with is not the one it ends with. */
function sealedReasoning({ stamp }: Rendering, part: 'opening' | 'whole'): string {
  return `gAAAAAsimulated${part === 'whole' ? 'WHOLE' : 'OPEN'}${padded(stamp)}-_==`;
}

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
