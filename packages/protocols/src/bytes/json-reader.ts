import { depthMax, type StringWatch, skipSpace, skipString, skipValue, tooDeep } from './json-skip.ts';

/** What a value is, by its first byte. `none`: no JSON value begins so. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'none';

/**
 * Why the bytes are not the JSON that was looked for, and where (bytes from the start).
 * `unexpected`: a byte that does not fit · `truncated`: they end too early · `too-deep`: nested beyond `depthMax`.
 */
export interface JsonFailure {
  readonly kind: 'unexpected' | 'truncated' | 'too-deep';
  readonly at: number;
}

/**
 * Reads JSON bytes in place: step into objects and arrays of interest, skip the rest. `at` is always at the value to
 * be read next. After `enter…`, `nextMember` or `nextElement` said true, the value must be entered or skipped; after they said
 * false, the object or array has ended, or `failure` is set. A failure stays: every later step says false.
 *
 *     if (reader.enterObject()) while (reader.nextMember()) reader.skip();
 */
export class JsonReader {
  bytes: Uint8Array;
  at: number;
  failure: JsonFailure | null = null;
  /** Span of the last member's key, without its quotes. */
  keyStart = 0;
  keyEnd = 0;
  /** Whether the object or array at hand was entered just now, so that no comma is due. */
  #entered = false;
  #depth = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = skipSpace(bytes, at);
  }

  /** Starts over on other bytes. */
  reset(bytes: Uint8Array, at: number): void {
    this.bytes = bytes;
    this.at = skipSpace(bytes, at);
    this.failure = null;
    this.#entered = false;
    this.#depth = 0;
  }

  get kind(): JsonKind {
    return kindOf(this.bytes[this.at]);
  }

  /** Steps into the object at hand. Any other value is skipped, and it says false. */
  enterObject(): boolean {
    return this.#enter(0x7b);
  }

  /** Steps into the array at hand. Any other value is skipped, and it says false. */
  enterArray(): boolean {
    return this.#enter(0x5b);
  }

  /** Steps to the next member's value, or out of the object. */
  nextMember(): boolean {
    if (!this.#next(0x7d)) return false;
    if (this.bytes[this.at] !== 0x22) return this.#fail(~this.at);
    const end = skipString(this.bytes, this.at);
    if (end < 0) return this.#fail(end);
    this.keyStart = this.at + 1;
    this.keyEnd = end - 1;
    const colon = skipSpace(this.bytes, end);
    if (this.bytes[colon] !== 0x3a) return this.#fail(~colon);
    this.at = skipSpace(this.bytes, colon + 1);
    return true;
  }

  /** Steps to the next element, or out of the array. */
  nextElement(): boolean {
    return this.#next(0x5d);
  }

  /** Skips the value at hand and returns its end, or -1 when it fails. */
  skip(watch: StringWatch | null = null): number {
    if (this.failure !== null) return -1;
    const end = skipValue(this.bytes, this.at, depthMax - this.#depth, watch);
    if (end < 0) {
      this.#fail(end);
      return -1;
    }
    this.at = end;
    return end;
  }

  /** After the outermost value: whether nothing but white space follows. Anything else is a failure. */
  isAtEnd(): boolean {
    if (this.failure !== null) return false;
    this.at = skipSpace(this.bytes, this.at);
    return this.at === this.bytes.length || this.#fail(~this.at);
  }

  #enter(open: number): boolean {
    if (this.bytes[this.at] !== open || this.failure !== null) {
      this.skip();
      return false;
    }
    if (this.#depth === depthMax) return this.#fail(tooDeep);
    this.#depth++;
    this.at++;
    this.#entered = true;
    return true;
  }

  #next(close: number): boolean {
    if (this.failure !== null) return false;
    let at = skipSpace(this.bytes, this.at);
    if (this.bytes[at] === close) {
      this.#entered = false;
      this.#depth--;
      this.at = at + 1;
      return false;
    }
    if (!this.#entered) {
      if (this.bytes[at] !== 0x2c) return this.#fail(~at);
      at = skipSpace(this.bytes, at + 1);
    }
    this.#entered = false;
    this.at = at;
    return true;
  }

  #fail(code: number): false {
    const at = Math.min(code === tooDeep ? this.at : ~code, this.bytes.length);
    const kind = code === tooDeep ? 'too-deep' : at === this.bytes.length ? 'truncated' : 'unexpected';
    this.failure = { kind, at };
    return false;
  }
}

function kindOf(byte: number | undefined): JsonKind {
  switch (byte) {
    case 0x7b:
      return 'object';
    case 0x5b:
      return 'array';
    case 0x22:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return byte !== undefined && (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) ? 'number' : 'none';
  }
}
