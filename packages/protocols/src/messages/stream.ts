import { FrameTemplate } from '../bytes/frame-template.ts';
import { writtenBytes } from '../bytes/output-bytes.ts';
import { readSseEvent } from '../bytes/sse.ts';
import type { Dialect } from '../inbound-request.ts';
import type { FrameRole, Reading, StreamReader, UpstreamRefusal } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import { isRecord, recordOf, type WireRecord } from '../wire-values.ts';
import { findDeltaText } from './delta-text.ts';
import { RunningReading } from './reading.ts';

const decoder = new TextDecoder();

export class MessagesStreamReader implements StreamReader {
  readonly #dialect: Dialect;
  readonly #reading = new RunningReading();
  readonly #template = new FrameTemplate();
  #refusal: UpstreamRefusal | null = null;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  get reading(): Reading {
    return this.#reading;
  }

  get refusal(): UpstreamRefusal | null {
    return this.#refusal;
  }

  read(frame: Uint8Array): FrameRole {
    const textEnd = this.#template.match(frame);
    if (textEnd !== -1) {
      this.#reading.outputBytes += writtenBytes(frame, this.#template.textStart, textEnd);
      return 'content';
    }
    const event = readSseEvent(frame);
    // An answer that is not framed: JSON or HTML under the name of an event stream.
    if (!event.isWellFormed) return this.#fail(undefined, decoder.decode(frame));
    const data = event.data?.trim() ?? '';
    if (data === '' || data === '[DONE]' || event.name === 'ping') return 'liveness';
    const value = parseJson(data);
    if (!isRecord(value)) return this.#fail(value, data);
    return this.#take(typeof value['type'] === 'string' ? value['type'] : event.name, value, frame, data);
  }

  isWholeWithoutTerminal(): boolean {
    return (
      this.#dialect.streamEnd === 'finish-reason' &&
      this.#reading.finishReasonRaw !== null &&
      this.#refusal === null
    );
  }

  #take(type: string | null, event: WireRecord, frame: Uint8Array, data: string): FrameRole {
    switch (type) {
      case 'ping':
        return 'liveness';
      case 'message_start':
        this.#reading.open(recordOf(event['message']));
        return 'preamble';
      case 'content_block_start':
        return this.#reading.takeBlock(recordOf(event['content_block'])) ? 'content' : 'preamble';
      case 'content_block_delta':
        return this.#takeDelta(recordOf(event['delta']), frame);
      case 'message_delta':
        this.#reading.close(recordOf(event['delta']), event['usage']);
        return 'finish';
      case 'message_stop':
        return 'terminal';
      default:
        return this.#takeOther(type, event, data);
    }
  }

  #takeDelta(delta: WireRecord, frame: Uint8Array): FrameRole {
    if (!this.#reading.takeDelta(delta)) return 'preamble';
    const text = findDeltaText(frame);
    if (text !== null) this.#template.learn(frame, text, null);
    return 'content';
  }

  /** Errors; the ends of blocks and events of days to come, which pass; and what has no type, which is not of the protocol. */
  #takeOther(type: string | null, event: WireRecord, data: string): FrameRole {
    const isError = type === 'error' || type === null || isRecord(event['error']);
    return isError ? this.#fail(event, data) : 'preamble';
  }

  #fail(value: unknown, text: string): FrameRole {
    const refusal = refusalOf(value, text);
    this.#refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}
