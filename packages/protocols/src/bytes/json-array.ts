import { FrameBuffer } from './sse.ts';

const quote = 0x22;
const backslash = 0x5c;

/**
 * Cuts a stream that is one JSON array into frames: an element that is an object or an array, with everything before it
 * that is not of the element before, the opening bracket or a comma. What closes the array is no frame: it is the `rest`
 * at the end of the stream. Nothing is changed or lost: all frames in a row, and `rest`, are the stream.
 */
export class JsonArraySplitter {
  readonly #partial: FrameBuffer;
  #depth = 0;
  /** Only an array has elements. */
  #isArray = false;
  #isInString = false;
  #isEscaped = false;

  /** A frame that grows beyond `frameBytesMax` bytes is not waited for any longer. */
  constructor(frameBytesMax: number) {
    this.#partial = new FrameBuffer(frameBytesMax);
  }

  /**
   * Hands every frame that is now whole to `onFrame`: a view of `chunk` where possible, theirs to keep. False once a
   * frame was longer than `frameBytesMax`; nothing is taken after that.
   */
  push(chunk: Uint8Array, onFrame: (frame: Uint8Array) => void, _onStart?: unknown): boolean {
    let start = 0;
    let at = 0;
    while (at < chunk.length && !this.#partial.isTooLong) {
      if (this.#isInString) {
        at = this.#skipString(chunk, at);
        continue;
      }
      const isEnd = this.#endsElement(chunk[at] ?? 0);
      at++;
      if (!isEnd) continue;
      this.#partial.emit(chunk, start, at, onFrame);
      start = at;
    }
    if (start < chunk.length) this.#partial.keep(chunk, start, chunk.length);
    return !this.#partial.isTooLong;
  }

  /** All that came after the last element. */
  rest(): Uint8Array {
    return this.#partial.bytes;
  }

  /** Bytes of `rest`. */
  get restLength(): number {
    return this.#partial.length;
  }

  #endsElement(byte: number): boolean {
    switch (byte) {
      case quote:
        this.#isInString = true;
        return false;
      case 0x5b:
      case 0x7b:
        if (this.#depth === 0) this.#isArray = byte === 0x5b;
        this.#depth++;
        return false;
      case 0x5d:
      case 0x7d:
        this.#depth--;
        return this.#depth === 1 && this.#isArray;
      default:
        return false;
    }
  }

  /** Nearly all of a stream is within strings. Returns where the string ends, or the chunk. */
  #skipString(chunk: Uint8Array, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === backslash) at++;
      else if (byte === quote) {
        this.#isInString = false;
        return at + 1;
      }
    }
    this.#isEscaped = at > chunk.length;
    return chunk.length;
  }
}
