import type { ReaderContext } from '../../codec.ts';
import { collectAnswer } from '../../translate/collect-answer.ts';
import type { TurnAnswer } from '../../turn-event.ts';
import { NativeEventReader, parse } from './event-reader.ts';

const decoder = new TextDecoder();

/** A whole answer is the only chunk of its stream. */
export function readAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const reader = new NativeEventReader(context);
  return collectAnswer([...reader.readChunk(parse(decoder.decode(body))), ...reader.end()]);
}
