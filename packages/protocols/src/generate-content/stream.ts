import { skipSpace } from '../bytes/json-skip.ts';
import { readSseEvent } from '../bytes/sse.ts';
import type { StreamFraming } from '../inbound-request.ts';
import type { FrameRole, Reading, StreamReader, UpstreamRefusal } from '../protocol.ts';
import { ChunkWalk } from './chunk-walk.ts';
import { RunningReading, refusalIn, refusalInPlaceOfAnswer } from './reading.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads a stream of either framing: its chunks are the same objects. */
export class GenerateContentStreamReader implements StreamReader {
  readonly reading: Reading;
  refusal: UpstreamRefusal | null = null;
  readonly #framing: StreamFraming;
  readonly #reading = new RunningReading();
  readonly #chunk = new ChunkWalk();
  /** Whether each candidate seen so far has finished, by its index. */
  readonly #candidates = new Map<number, boolean>();
  #isOpen = false;

  constructor(framing: StreamFraming) {
    this.#framing = framing;
    this.reading = this.#reading;
  }

  read(frame: Uint8Array): FrameRole {
    return this.#framing === 'sse' ? this.#readEvent(frame) : this.#readElement(frame);
  }

  /** A stream of events has no last frame: it ends with the connection. An array ends with its bracket. */
  isWholeWithoutTerminal(): boolean {
    return this.#framing === 'sse' && this.#isFinished();
  }

  #isFinished(): boolean {
    return (
      this.#reading.finishReasonRaw !== null &&
      this.#candidates.values().every((isFinished) => isFinished) &&
      this.refusal === null
    );
  }

  #readEvent(frame: Uint8Array): FrameRole {
    const at = dataStart(frame);
    return at === -1 || !this.#chunk.walk(frame, at) ? this.#readUnusual(frame) : this.#takeChunk();
  }

  /** Comments and `[DONE]`, which callers of this protocol do not know; data over several lines; what is no event stream. */
  #readUnusual(frame: Uint8Array): FrameRole {
    const event = readSseEvent(frame);
    if (!event.isWellFormed) return this.#fail(refusalInPlaceOfAnswer(decoder.decode(frame)));
    const data = event.data?.trim() ?? '';
    // The end of the line end of the frame before.
    if (frame.every((byte) => byte <= 0x20)) return 'liveness';
    if (data === '' || data === '[DONE]') return 'foreign';
    const isChunk = event.name !== 'error' && this.#chunk.walk(encoder.encode(data), 0);
    return isChunk ? this.#takeChunk() : this.#fail(refusalInPlaceOfAnswer(data));
  }

  #readElement(frame: Uint8Array): FrameRole {
    const at = this.#elementStart(frame);
    if (frame[at] === 0x5d) return this.#readClosing(frame, at);
    if (!this.#chunk.walk(frame, at)) return this.#fail(refusalInPlaceOfAnswer(decoder.decode(frame)));
    if (this.#isOpen) return this.#takeChunk();
    // An object by itself: an error, or an answer that nobody could read as a stream.
    return this.#fail(refusalInPlaceOfAnswer(decoder.decode(frame)));
  }

  /** Behind the bracket that opens the array, or the comma. */
  #elementStart(frame: Uint8Array): number {
    const at = skipSpace(frame, 0);
    const isOpening = frame[at] === 0x5b && !this.#isOpen;
    if (isOpening) this.#isOpen = true;
    return isOpening || (frame[at] === 0x2c && this.#isOpen) ? skipSpace(frame, at + 1) : at;
  }

  #readClosing(frame: Uint8Array, at: number): FrameRole {
    const isLast = skipSpace(frame, at + 1) === frame.length;
    if (isLast && this.#isOpen && this.#isFinished()) return 'terminal';
    return this.#fail(refusalInPlaceOfAnswer('the array ended before the answer did'));
  }

  #takeChunk(): FrameRole {
    const chunk = this.#chunk;
    const refusal = refusalIn(chunk);
    if (refusal !== null) return this.#fail(refusal);
    this.#reading.take(chunk);
    for (const index of chunk.openCandidates)
      this.#candidates.set(index, this.#candidates.get(index) ?? false);
    for (const index of chunk.finishedCandidates) this.#candidates.set(index, true);
    if (chunk.hasOutput) return 'content';
    return this.#reading.finishReasonRaw === null ? 'preamble' : 'finish';
  }

  #fail(refusal: UpstreamRefusal): FrameRole {
    this.refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}

/** Where the JSON of an ordinary frame begins, or -1 when the frame does not begin with `data:`. */
function dataStart(frame: Uint8Array): number {
  const isData =
    frame[0] === 0x64 && frame[1] === 0x61 && frame[2] === 0x74 && frame[3] === 0x61 && frame[4] === 0x3a;
  return isData ? 5 : -1;
}
