import { FrameTemplate } from '../bytes/frame-template.ts';
import { writtenBytes } from '../bytes/output-bytes.ts';
import { readSseEvent } from '../bytes/sse.ts';
import type { Dialect } from '../inbound-request.ts';
import type { FrameRole, Reading, StreamReader, UpstreamRefusal } from '../protocol.ts';
import { ChunkWalk } from './chunk-walk.ts';
import { RunningReading, refusalIn, refusalInPlaceOfAnswer } from './reading.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class ChatStreamReader implements StreamReader {
  readonly #dialect: Dialect;
  readonly #reading: RunningReading;
  readonly #chunk = new ChunkWalk();
  readonly #template = new FrameTemplate();
  /** Whether each choice seen so far has finished, by its index. */
  readonly #choices = new Map<number, boolean>();
  #refusal: UpstreamRefusal | null = null;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#reading = new RunningReading(dialect);
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
    const at = dataStart(frame);
    if (at === -1 || !this.#chunk.walk(frame, at)) return this.#readUnusual(frame);
    const role = this.#takeChunk();
    const text = role === 'content' ? this.#chunk.onlyText : null;
    if (text !== null) this.#template.learn(frame, text, this.#chunk.padding);
    return role;
  }

  isWholeWithoutTerminal(): boolean {
    return (
      this.#dialect.streamEnd === 'finish-reason' &&
      this.#reading.finishReasonRaw !== null &&
      this.#choices.values().every((isFinished) => isFinished) &&
      this.#refusal === null
    );
  }

  /** Comments, `[DONE]`, named events, data over several lines, and what is no event stream at all. */
  #readUnusual(frame: Uint8Array): FrameRole {
    const event = readSseEvent(frame);
    // An answer that is not framed: JSON or HTML under the name of an event stream.
    if (!event.isWellFormed) return this.#fail(refusalInPlaceOfAnswer(decoder.decode(frame)));
    const data = event.data?.trim() ?? '';
    if (data === '[DONE]') return 'terminal';
    if (data === '' || event.name === 'ping') return 'liveness';
    const isChunk = event.name !== 'error' && this.#chunk.walk(encoder.encode(data), 0);
    return isChunk ? this.#takeChunk() : this.#fail(refusalInPlaceOfAnswer(data));
  }

  #takeChunk(): FrameRole {
    const chunk = this.#chunk;
    const refusal = refusalIn(chunk);
    if (refusal !== null) return this.#fail(refusal);
    this.#reading.take(chunk);
    for (const index of chunk.openChoices) this.#choices.set(index, this.#choices.get(index) ?? false);
    for (const index of chunk.finishedChoices) this.#choices.set(index, true);
    if (chunk.hasOutput) return 'content';
    if (chunk.finishReason !== null) return 'finish';
    return chunk.choices === 0 && chunk.hasUsage ? 'usage' : 'preamble';
  }

  #fail(refusal: UpstreamRefusal): FrameRole {
    this.#refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}

/** Where the JSON of an ordinary frame begins, or -1 when the frame does not begin with `data:`. */
function dataStart(frame: Uint8Array): number {
  const isData =
    frame[0] === 0x64 && frame[1] === 0x61 && frame[2] === 0x74 && frame[3] === 0x61 && frame[4] === 0x3a;
  return isData ? 5 : -1;
}
