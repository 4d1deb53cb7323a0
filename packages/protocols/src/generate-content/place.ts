import { readSseEvent } from '../bytes/sse.ts';
import type { EventWriter, StreamPlace, WriterContext } from '../codec.ts';
import { parseJson } from '../refusal.ts';
import { recordOf, stringOf } from '../wire-values.ts';
import { type Identity, NativeEventWriter } from './write-events.ts';

/** The chunks of an answer that were relayed as they came: each repeats what the answer is called. */
export class NativePlace implements StreamPlace {
  #said: Identity | null = null;

  note(frame: Uint8Array): void {
    if (this.#said !== null) return;
    const chunk = recordOf(parseJson(readSseEvent(frame).data ?? ''));
    const modelVersion = stringOf(chunk['modelVersion']);
    const responseId = stringOf(chunk['responseId']);
    // Some servers leave out one or the other, in all chunks.
    const id = responseId === null ? {} : { responseId };
    if (chunk['candidates'] !== undefined)
      this.#said = { ...(modelVersion === null ? {} : { modelVersion }), ...id };
  }

  goOn(context: WriterContext): EventWriter | null {
    return this.#said === null ? null : new NativeEventWriter(context, this.#said);
  }
}
