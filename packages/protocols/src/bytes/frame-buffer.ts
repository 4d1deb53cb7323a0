const noBytes = new Uint8Array(0);

/** The beginning of a frame whose end has not come. A frame that grows beyond `bytesMax` is not waited for any longer. */
export class FrameBuffer {
  isTooLong = false;
  #bytes: Uint8Array = noBytes;
  #length = 0;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The buffer doubles as it grows, so that a frame in many small chunks is not copied for each of them. */
  keep(chunk: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start;
    this.isTooLong ||= length > this.#bytesMax;
    if (this.isTooLong) return;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(chunk.subarray(start, end), this.#length);
    this.#length = length;
  }

  /** Hands on the frame that ends here: a view of `chunk` where possible, theirs to keep. */
  emit(chunk: Uint8Array, start: number, end: number, onFrame: (frame: Uint8Array) => void): void {
    if (this.#length === 0) {
      if (end - start > this.#bytesMax) this.isTooLong = true;
      else onFrame(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end));
      return;
    }
    this.keep(chunk, start, end);
    const frame = this.bytes;
    this.#bytes = noBytes;
    this.#length = 0;
    if (!this.isTooLong) onFrame(frame);
  }
}
