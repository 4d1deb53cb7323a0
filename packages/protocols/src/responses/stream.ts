import { readSseEvent } from '../bytes/sse.ts';
import type { FrameRole, Reading, StreamReader, UpstreamRefusal } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import { EventWalk } from './event-walk.ts';
import { RunningReading } from './reading.ts';
import { refusalInEvent, refusalInResponse } from './refusal.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class ResponsesStreamReader implements StreamReader {
  readonly #reading = new RunningReading();
  readonly #event = new EventWalk();
  /** Whether the item at hand has said anything, so that what follows only repeats it. */
  #itemHasOutput = false;
  #refusal: UpstreamRefusal | null = null;

  get reading(): Reading {
    return this.#reading;
  }

  get refusal(): UpstreamRefusal | null {
    return this.#refusal;
  }

  read(frame: Uint8Array): FrameRole {
    const at = dataStart(frame);
    return at !== -1 && this.#event.walk(frame, at) && this.#event.hasType
      ? this.#takeEvent()
      : this.#readUnusual(frame);
  }

  /** Only its terminal event says that an answer is whole. */
  isWholeWithoutTerminal(): boolean {
    return false;
  }

  /** Comments, `[DONE]` (which some servers send after the end), data over several lines, and what is no event stream. */
  #readUnusual(frame: Uint8Array): FrameRole {
    const { isWellFormed, name, data: lines } = readSseEvent(frame);
    // An answer that is not framed: JSON or HTML under the name of an event stream.
    if (!isWellFormed) return this.#fail(refusalOf(undefined, decoder.decode(frame)));
    const data = lines?.trim() ?? '';
    if (data === '' || data === '[DONE]' || name === 'ping') return 'liveness';
    const event = this.#event;
    if (!event.walk(encoder.encode(data), 0)) return this.#fail(refusalOf(parseJson(data), data));
    if (!event.hasType && name !== null) event.nameType(name);
    return event.hasType ? this.#takeEvent() : this.#fail(refusalInEvent(event));
  }

  #takeEvent(): FrameRole {
    const event = this.#event;
    switch (event.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#reading.open(event.response);
        return 'preamble';
      case 'response.output_item.added':
        this.#itemHasOutput = false;
        return this.#takeOutput(event.output.hasText || event.output.hasActs);
      case 'response.output_item.done':
        return this.#takeItemEnd();
      case 'response.completed':
      case 'response.incomplete':
        return this.#takeEnd();
      case 'response.failed':
        return this.#fail(refusalInResponse(event.response));
      case 'error':
        return this.#fail(refusalInEvent(event));
      case null:
        return this.#takeOther();
    }
  }

  /** Deltas and pictures; texts that end, parts and the progress of hosted tools, which bring nothing new. */
  #takeOther(): FrameRole {
    const { output, isDelta, isImage, hasError } = this.#event;
    if (hasError) return this.#fail(refusalInEvent(this.#event));
    if (isDelta) return this.#takeOutput(output.hasText);
    return this.#takeOutput(isImage || (output.hasText && !this.#itemHasOutput));
  }

  /** What an item seals is known at its end; the rest is new only where the server sends no deltas. */
  #takeItemEnd(): FrameRole {
    const { output } = this.#event;
    this.#reading.know(output);
    const isFilled = output.hasText || output.hasActs || output.hasSeals;
    if (isFilled && this.#itemHasOutput) return 'content';
    return this.#takeOutput(isFilled);
  }

  #takeOutput(isFilled: boolean): FrameRole {
    if (!isFilled) return 'preamble';
    this.#itemHasOutput = true;
    this.#reading.take(this.#event.output);
    return 'content';
  }

  #takeEnd(): FrameRole {
    const { response } = this.#event;
    if (response === null) return this.#fail(refusalInEvent(this.#event));
    this.#reading.close(response);
    return 'terminal';
  }

  #fail(refusal: UpstreamRefusal): FrameRole {
    this.#refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}

const lineFeed = 0x0a;
const eventField = [0x65, 0x76, 0x65, 0x6e, 0x74, 0x3a];
const dataField = [0x64, 0x61, 0x74, 0x61, 0x3a];

/** Where the JSON of an ordinary frame begins, its name before it or none; -1 when the frame is another one. */
function dataStart(frame: Uint8Array): number {
  const at = startsWith(frame, 0, eventField) ? frame.indexOf(lineFeed) + 1 : 0;
  return startsWith(frame, at, dataField) ? at + dataField.length : -1;
}

function startsWith(frame: Uint8Array, at: number, field: readonly number[]): boolean {
  for (let offset = 0; offset < field.length; offset++) {
    if (frame[at + offset] !== field[offset]) return false;
  }
  return true;
}
