import type { EventWriter, StreamPlace, WriterContext } from '../codec.ts';
import { isRecord, listOf, type WireRecord } from '../wire-values.ts';
import { readChunk } from './read-events.ts';
import { ChatEventWriter } from './write-events.ts';

/** Members that every chunk of an answer repeats. */
const repeated = ['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier'] as const;

/** The chunks of an answer that were relayed as they came: all of them bear the same marks. */
export class ChatPlace implements StreamPlace {
  #said: WireRecord | null = null;

  note(frame: Uint8Array): void {
    if (this.#said !== null) return;
    const chunk = readChunk(frame);
    if (!isRecord(chunk) || listOf(chunk['choices']).length === 0) return;
    const marks = repeated.filter((name) => chunk[name] !== undefined);
    this.#said = Object.fromEntries(marks.map((name) => [name, chunk[name]]));
  }

  goOn(context: WriterContext): EventWriter | null {
    return this.#said === null ? null : new ChatEventWriter(context, this.#said);
  }
}
