import type { EventWriter, StreamPlace, WriterContext } from '../codec.ts';
import { readEvent } from '../translate/answer.ts';
import { numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { ResponsesEventWriter } from './write-events.ts';

/** The message whose text is open. */
interface OpenMessage {
  id: string;
  /** Its place in the output. */
  readonly index: number;
  readonly parts: object[];
  text: string;
  annotations: object[];
  /** The caller has been told that there is no more of it. */
  isTextDone: boolean;
}

/** The events of a response that were relayed as they came: they are numbered, and the last one repeats all items. */
export class ResponsesPlace implements StreamPlace {
  #response: WireRecord | null = null;
  #sequence = 0;
  readonly #items: object[] = [];
  #message: OpenMessage | null = null;
  /** A tool of the vendor's has been at work: its findings stand in the words that follow. */
  #isWordsAlone = true;

  note(frame: Uint8Array): void {
    const read = readEvent(frame);
    if (read === null) return;
    const { type, event } = read;
    this.#sequence = (numberOf(event['sequence_number']) ?? this.#sequence) + 1;
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.#response ??= recordOf(event['response']);
        break;
      case 'response.output_item.added':
        this.#open(event);
        break;
      case 'response.output_item.done':
        this.#items.push(this.#seen(recordOf(event['item'])));
        this.#message = null;
        break;
      default:
        if (this.#message !== null) this.#add(this.#message, type, event);
    }
  }

  goOn(context: WriterContext): EventWriter | null {
    const message = this.#message;
    // Items that were left out in between would shift those that come.
    if (this.#response === null || message === null || message.index !== this.#items.length) return null;
    if (message.isTextDone || !this.#isWordsAlone) return null;
    return new ResponsesEventWriter(context, {
      response: this.#response,
      sequence: this.#sequence,
      items: this.#items,
      messageId: message.id,
      message,
    });
  }

  #open(event: WireRecord): void {
    const item = this.#seen(recordOf(event['item']));
    if (item['type'] !== 'message') return;
    const index = numberOf(event['output_index']) ?? this.#items.length;
    this.#message = {
      id: stringOf(item['id']) ?? '',
      index,
      parts: [],
      text: '',
      annotations: [],
      isTextDone: false,
    };
  }

  #seen(item: WireRecord): WireRecord {
    this.#isWordsAlone &&= item['type'] === 'message' || item['type'] === 'reasoning';
    return item;
  }

  #add(message: OpenMessage, type: string, event: WireRecord): void {
    switch (type) {
      case 'response.output_text.delta':
        message.text += stringOf(event['delta']) ?? '';
        // Some servers change it on the way.
        message.id = stringOf(event['item_id']) ?? message.id;
        break;
      case 'response.output_text.annotation.added':
        message.annotations.push(recordOf(event['annotation']));
        break;
      case 'response.output_text.done':
        message.isTextDone = true;
        break;
      case 'response.content_part.done':
        message.parts.push(recordOf(event['part']));
        message.text = '';
        message.annotations = [];
        message.isTextDone = false;
        break;
      default:
        // Others repeat what deltas said.
        break;
    }
  }
}
