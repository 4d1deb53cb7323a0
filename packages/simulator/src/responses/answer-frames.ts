import { type Run, runsOf } from '../answer/runs.ts';
import type { Rendering } from '../protocol.ts';
import type { Frame, FrameRole } from '../timeline/frame.ts';
import { frame } from '../timeline/frame.ts';
import { itemId } from './identity.ts';
import { encodeItem, encodePart, encodeSummary } from './items.ts';
import { closedResponse, endingOf, openResponse } from './response-object.ts';

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
