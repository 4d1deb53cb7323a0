/**
 * A few bytes to be found among many (Horspool): where the last one of a stretch is none of theirs, the whole stretch is
 * passed over, so that a text without them costs a look at one byte of each stretch.
 */
export class BytePattern {
  readonly #bytes: Uint8Array;
  /** How far to go on from a stretch that ends in this byte. */
  readonly #steps: Uint8Array;

  /** Of at least 2 and at most 255 bytes of UTF-8. */
  constructor(text: string) {
    this.#bytes = new TextEncoder().encode(text);
    const last = this.#bytes.length - 1;
    this.#steps = new Uint8Array(256).fill(this.#bytes.length);
    for (const [at, byte] of this.#bytes.subarray(0, last).entries()) this.#steps[byte] = last - at;
  }

  /** Where they first stand within `bytes` from `start` to `end`; -1 when they do not. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const steps = this.#steps;
    const last = this.#bytes.length - 1;
    const lastByte = this.#bytes[last];
    let at = start + last;
    while (at < end) {
      const byte = bytes[at] ?? 0;
      if (byte === lastByte && this.#isAt(bytes, at - last)) return at - last;
      at += steps[byte] ?? 1;
    }
    return -1;
  }

  #isAt(bytes: Uint8Array, at: number): boolean {
    return this.#bytes.every((byte, offset) => bytes[at + offset] === byte);
  }
}
