import type { EventWriter, StreamPlace, WriterContext } from '../codec.ts';
import { readEvent } from '../translate/answer.ts';
import { numberOf, recordOf, stringOf } from '../wire-values.ts';
import { MessagesEventWriter } from './write-events.ts';

/** Blocks that leave nothing behind that another model would have to know of. */
const wordBlocks: readonly (string | null)[] = ['text', 'thinking', 'redacted_thinking'];

/** The events of a message that were relayed as they came: blocks are told apart by their index. */
export class MessagesPlace implements StreamPlace {
  #index: number | null = null;
  /** A tool of the vendor's has been at work: its findings stand in the words that follow. */
  #isWordsAlone = true;

  note(frame: Uint8Array): void {
    const read = readEvent(frame);
    if (read?.type !== 'content_block_start' && read?.type !== 'content_block_delta') return;
    this.#index = numberOf(read.event['index']) ?? this.#index;
    const block = read.event['content_block'];
    if (block !== undefined) this.#isWordsAlone &&= wordBlocks.includes(stringOf(recordOf(block)['type']));
  }

  goOn(context: WriterContext): EventWriter | null {
    return this.#index === null || !this.#isWordsAlone ? null : new MessagesEventWriter(context, this.#index);
  }
}
