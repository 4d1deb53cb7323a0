import { unreachable } from '@headgate/protocols';

/** Bounds what may stand around the data: a size line with its extensions, and all trailers together. */
interface ChunkedLimits {
  readonly lineBytesMax: number;
  readonly trailerBytesMax: number;
}

/** The part of the framing that the next byte belongs to. */
type Part =
  | 'size' // hexadecimal digits
  | 'extension' // the rest of the size line, not looked at
  | 'size-end' // its LF
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer-start' // of a trailer line, or of the empty one that ends everything
  | 'trailer' // not looked at
  | 'trailer-lf'
  | 'final-lf'
  | 'complete'
  | 'garbled';

const [cr, lf, semicolon] = [13, 10, 59];
/** 13 hexadecimal digits stay below 2^53. */
const sizeDigitsMax = 13;

/**
 * Takes the framing of `Transfer-Encoding: chunked` off (RFC 9112, 7.1), whatever pieces it arrives in. The data of one
 * piece is moved together in place, so that many small chunks in one read become one.
 */
export class ChunkedDecoder {
  /** The data that the last `decode` found lies from here … */
  dataStart = 0;
  /** … to here; both are one when there was none. */
  dataEnd = 0;
  readonly #limits: ChunkedLimits;
  #part: Part = 'size';
  #remaining = 0;
  #digits = 0;
  #lineBytes = 0;
  #trailerBytes = 0;

  constructor(limits: ChunkedLimits) {
    this.#limits = limits;
  }

  /** Another body begins. */
  reset(): void {
    this.#part = this.#startSize();
    this.#trailerBytes = 0;
  }

  get isComplete(): boolean {
    return this.#part === 'complete';
  }

  get isGarbled(): boolean {
    return this.#part === 'garbled';
  }

  /**
   * Reads `bytes` from `start` on and rearranges them.
   * @returns the index of the first byte that was not read: beyond the end, unless complete or garbled.
   */
  decode(bytes: Uint8Array, start: number): number {
    this.dataStart = start;
    this.dataEnd = start;
    let at = start;
    while (at < bytes.length) {
      const part = this.#part;
      if (part === 'complete' || part === 'garbled') break;
      if (part === 'data') {
        at = this.#takeData(bytes, at);
      } else {
        this.#part = this.#afterByte(part, bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  #takeData(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.#remaining);
    if (this.dataEnd === this.dataStart) {
      this.dataStart = at;
      this.dataEnd = end;
    } else {
      bytes.copyWithin(this.dataEnd, at, end);
      this.dataEnd += end - at;
    }
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#part = 'data-cr';
    return end;
  }

  #afterByte(part: Exclude<Part, 'data' | 'complete' | 'garbled'>, byte: number): Part {
    switch (part) {
      case 'size':
        return this.#afterSizeByte(byte);
      case 'extension':
        return this.#afterExtensionByte(byte);
      case 'size-end':
        if (byte !== lf) return 'garbled';
        return this.#remaining === 0 ? 'trailer-start' : 'data';
      case 'data-cr':
        return byte === cr ? 'data-lf' : 'garbled';
      case 'data-lf':
        return byte === lf ? this.#startSize() : 'garbled';
      case 'trailer-start':
        return byte === cr ? 'final-lf' : this.#afterTrailerByte(byte);
      case 'trailer':
        return this.#afterTrailerByte(byte);
      case 'trailer-lf':
        return byte === lf ? 'trailer-start' : 'garbled';
      case 'final-lf':
        return byte === lf ? 'complete' : 'garbled';
      default:
        return unreachable(part);
    }
  }

  #startSize(): Part {
    this.#remaining = 0;
    this.#digits = 0;
    this.#lineBytes = 0;
    return 'size';
  }

  #afterSizeByte(byte: number): Part {
    const digit = hexDigit(byte);
    if (digit !== null) {
      this.#digits += 1;
      this.#remaining = this.#remaining * 16 + digit;
      return this.#digits > sizeDigitsMax ? 'garbled' : 'size';
    }
    if (this.#digits === 0) return 'garbled';
    if (byte === semicolon) return 'extension';
    return byte === cr ? 'size-end' : 'garbled';
  }

  #afterExtensionByte(byte: number): Part {
    this.#lineBytes += 1;
    if (byte === cr) return 'size-end';
    return byte === lf || this.#lineBytes > this.#limits.lineBytesMax ? 'garbled' : 'extension';
  }

  #afterTrailerByte(byte: number): Part {
    this.#trailerBytes += 1;
    if (byte === cr) return 'trailer-lf';
    return byte === lf || this.#trailerBytes > this.#limits.trailerBytesMax ? 'garbled' : 'trailer';
  }
}

function hexDigit(byte: number): number | null {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : null;
}
