import type { ReaderContext, TranslationTarget, WriterContext, WrittenTurn } from '../codec.ts';
import { requestInput } from '../request/request-input.fixture.ts';
import { defaultDialect } from '../request.ts';
import { text, traceId, turnOf } from '../translate/turn.fixture.ts';
import type { Turn } from '../turn.ts';
import type { TurnEvent } from '../turn-event.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import { responsesCodec } from './index.ts';
import { responsesSurface } from './wire.ts';

export { text, traceId, turnOf };

export function targetOf(rest: Partial<TranslationTarget> = {}): TranslationTarget {
  return {
    upstreamModel: 'upstream',
    path: '/responses',
    dialect: defaultDialect,
    origin: 'here',
    maxOutputTokens: null,
    reasoning: true,
    ...rest,
  };
}

export function readerContext(rest: Partial<ReaderContext> = {}): ReaderContext {
  return { origin: 'here', dialect: defaultDialect, names: new Map(), traceId, ...rest };
}

export function writerContext(turn = turnOf({ surface: responsesSurface })): WriterContext {
  return {
    turn,
    traceId,
    createdS: 1_700_000_000,
    wantsUsageFrame: false,
    framing: 'sse',
    inputTokensEstimate: 1,
  };
}

/** The request a caller of this surface sends, read; a fault of its reading is a failure of the test. */
export function readBody(body: object): Turn {
  const read = responsesCodec.readTurn(requestInput(JSON.stringify(body)));
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

/** The body an upstream gets, and what it lost. */
export function written(
  turn: Turn,
  target = targetOf(),
): { body: WireRecord; losses: WrittenTurn['losses'] } {
  const result = responsesCodec.writeTurn(turn, target);
  if (!result.ok) throw new Error(result.error.message);
  return { body: bodyOf(result.value.request.body), losses: result.value.losses };
}

function bodyOf(pieces: readonly Uint8Array[]): WireRecord {
  return recordOf(JSON.parse(pieces.map((piece) => new TextDecoder().decode(piece)).join('')));
}

export function frameOf(event: object): Uint8Array {
  return new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`);
}

/** The frames of a written stream, one by one. */
export function framesOf(stream: string): readonly Uint8Array[] {
  const frames = stream.split('\n\n').filter((frame) => frame !== '');
  return frames.map((frame) => new TextEncoder().encode(`${frame}\n\n`));
}

/** The events that the reader makes of these frames. */
export function readFrames(frames: readonly Uint8Array[], context = readerContext()): readonly TurnEvent[] {
  const reader = responsesCodec.openReader(context);
  const events = frames.flatMap((frame) => [...reader.read(frame)]);
  return [...events, ...reader.end()];
}

/** The whole stream for these events. */
export function writeEvents(events: Iterable<TurnEvent>, context = writerContext()): string {
  const writer = responsesCodec.openWriter(context);
  let stream = '';
  for (const event of events) stream += writer.write(event);
  return stream + writer.end();
}
