import type { EventWriter, StreamPlace, WriterContext } from '../codec.ts';
import { readEvent } from '../translate/answer.ts';
import { numberOf } from '../wire-values.ts';
import { MessagesEventWriter } from './write-events.ts';

/** The events of a message that were relayed as they came: blocks are told apart by their index. */
export class MessagesPlace implements StreamPlace {
  #index: number | null = null;

  note(frame: Uint8Array): void {
    const read = readEvent(frame);
    if (read?.type !== 'content_block_start' && read?.type !== 'content_block_delta') return;
    this.#index = numberOf(read.event['index']) ?? this.#index;
  }

  goOn(context: WriterContext): EventWriter | null {
    return this.#index === null ? null : new MessagesEventWriter(context, this.#index);
  }
}
