const encoder = new TextEncoder();

/** The beginning and the end of each text are read as far as this. Bytes. */
const edge = 256;
/** Read of all texts together. */
const readMax = 4_096;

/**
 * A number of 53 bits for a row of texts: the same for the same texts, and by all odds another one for others. Of a long
 * text it reads both ends and the length, so that it costs the same however long that is. It keeps nothing of what
 * it read. Whoever chooses the texts can make two rows meet: it tells apart, and proves nothing.
 */
export class Fingerprint {
  /** Two sums side by side, whose multipliers have nothing to do with each other. */
  #high = 0x811c_9dc5;
  #low = 0x9747_b28c;
  #left = readMax;
  #texts = 0;

  get isEmpty(): boolean {
    return this.#texts === 0;
  }

  get value(): number {
    const low = scatter(this.#low ^ this.#texts);
    const high = scatter(this.#high ^ low);
    return (high >>> 11) * 0x1_0000_0000 + low;
  }

  /** Adds the bytes of a text, from `start` to `end`. */
  addBytes(bytes: Uint8Array, start: number, end: number): void {
    this.addNumber(end - start);
    const headEnd = start + this.#take(end - start);
    this.#mix(bytes, start, headEnd);
    this.#mix(bytes, end - this.#take(end - headEnd), end);
  }

  addText(text: string): void {
    const bytes = encoder.encode(text);
    this.addBytes(bytes, 0, bytes.length);
  }

  addNumber(value: number): void {
    this.#texts++;
    const [low, high] = [value >>> 0, Math.floor(value / 0x1_0000_0000)];
    this.#high = mixHigh(mixHigh(this.#high, low), high);
    this.#low = mixLow(mixLow(this.#low, low), high);
  }

  #take(wanted: number): number {
    const taken = Math.min(wanted, edge, this.#left);
    this.#left -= taken;
    return taken;
  }

  /** Four bytes at a time: it is done for nearly every call. */
  #mix(bytes: Uint8Array, start: number, end: number): void {
    let high = this.#high;
    let low = this.#low;
    for (let at = start; at < end; at += 4) {
      let word = bytes[at] ?? 0;
      if (at + 1 < end) word |= (bytes[at + 1] ?? 0) << 8;
      if (at + 2 < end) word |= (bytes[at + 2] ?? 0) << 16;
      if (at + 3 < end) word |= (bytes[at + 3] ?? 0) << 24;
      high = mixHigh(high, word);
      low = mixLow(low, word);
    }
    this.#high = high;
    this.#low = low;
  }
}

function mixHigh(sum: number, word: number): number {
  const mixed = Math.imul(sum ^ word, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

function mixLow(sum: number, word: number): number {
  const mixed = Math.imul(sum ^ word, 0x5bd1_e995);
  return mixed ^ (mixed >>> 13);
}

/** Lets every bit of a number of 32 bits bear on every other one. */
function scatter(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
