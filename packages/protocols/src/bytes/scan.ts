import {
  findRowEnd,
  largeBytesMin,
  marksMax,
  marksSkipped,
  type StringWatch,
  skipLargeContainer,
} from './large-container.ts';
import { skipLongString } from './long-string.ts';
import type { LongTexts } from './long-texts.ts';

export type { StringWatch } from './large-container.ts';

/**
 * Finds where JSON values end without building them. Every function takes the position of a value's first byte and
 * returns the position after its last one, or a negative number: `~at` for the byte that does not fit (`~length` when
 * the text ends too early), or `tooDeep`.
 *
 * Inside an object or array that is skipped, strings and the pairing of brackets are followed and nothing else: its
 * commas, numbers and words, and the escapes and UTF-8 of its strings, are the business of whoever parses it. So a
 * megabyte costs about as much as one look at each of its bytes, and long strings much less.
 */

/** Nesting beyond this is refused: those who parse the text after us recurse. */
export const depthMax = 256;

/** In place of `~at`, which no body is long enough to make this small. */
const tooDeep = -0x4000_0000;
const tooMany = tooDeep - 1;

/** Members and elements that one reader steps through, each of which costs up to fifty nanoseconds; what is skipped is not counted. */
const stepsMax = 50_000;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Bytes of a string that are read one by one before `indexOf` takes over: a call of `indexOf` costs about as much as
 * this many steps of the loop, so a text full of short strings or escaped quotes never pays for calls.
 */
const nearBytes = 96;

export function skipSpace(bytes: Uint8Array, at: number): number {
  // Nearly always there is none.
  return at < bytes.length && (bytes[at] ?? 0) > 0x20 ? at : skipSpaces(bytes, at);
}

function skipSpaces(bytes: Uint8Array, start: number): number {
  const near = Math.min(start + nearBytes, bytes.length);
  for (let at = start; at < near; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
  }
  return near === bytes.length ? near : findRowEnd(bytes, near, 'space');
}

function skipValue(
  bytes: Uint8Array,
  at: number,
  depth: number,
  watch: StringWatch | null,
  longTexts: LongTexts | null,
): number {
  switch (bytes[at]) {
    case quote:
      return longTexts?.endOf(at) ?? skipString(bytes, at);
    case 0x7b:
    case 0x5b:
      return skipContainer(bytes, at, depth, watch, longTexts);
    case 0x74:
      return skipWord(bytes, at, 'true');
    case 0x66:
      return skipWord(bytes, at, 'false');
    case 0x6e:
      return skipWord(bytes, at, 'null');
    default:
      return skipNumber(bytes, at);
  }
}

/** Takes the opening quote's position; returns the one after the closing quote. */
export function skipString(bytes: Uint8Array, at: number): number {
  let from = at + 1;
  const near = Math.min(from + nearBytes, bytes.length);
  while (from < near) {
    const byte = bytes[from];
    if (byte === quote) return from + 1;
    from += byte === backslash ? 2 : 1;
  }
  return from < bytes.length ? skipLongString(bytes, from) : ~bytes.length;
}

/** Levels of nesting that fit into the bits of a small integer. */
const levelsMax = 30;

/**
 * Written as one tight loop: this is where the time of a large body without long strings goes. What is open is a bit per
 * level, one for an object and zero for an array; deeper down another call goes on with bits of its own.
 */
function skipContainer(
  bytes: Uint8Array,
  start: number,
  depth: number,
  watch: StringWatch | null,
  longTexts: LongTexts | null,
): number {
  if (bytes.length - start >= largeBytesMin)
    return skipLargeContainer(bytes, start, depth, watch, byOne, longTexts);
  let open = 0;
  let level = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      const end = skipString(bytes, at);
      if (end < 0) return end;
      if (watch !== null) look(watch, bytes, at + 1, end - 1);
      at = end;
      continue;
    }
    at++;
    // In ASCII the two kinds of brackets differ by 0x20 only; nearly every other byte is smaller.
    if (byte < 0x5b) continue;
    const bracket = byte | 0x20;
    if (bracket === 0x7b) {
      if (level >= depth) return tooDeep;
      if (level === levelsMax) {
        at = skipContainer(bytes, at - 1, depth - level, watch, longTexts);
        if (at < 0) return at;
        continue;
      }
      level++;
      open = (open << 1) | ((byte >> 5) & 1);
    } else if (bracket === 0x7d) {
      if (((byte >> 5) & 1) !== (open & 1)) return ~(at - 1);
      open >>= 1;
      level--;
      if (level === 0) return at;
    }
  }
  return ~bytes.length;
}

const byOne = { skipString, look, tooDeep, tooMany };

function look(watch: StringWatch, bytes: Uint8Array, start: number, end: number): void {
  const length = end - start;
  if (length < 32 ? ((watch.lengths >>> length) & 1) === 1 : length > watch.longerThan)
    watch.see(bytes, start, end);
  if (bytes[start] === watch.mark[0] && beginsWith(bytes, start, watch.mark)) watch.hasMark = true;
}

function beginsWith(bytes: Uint8Array, at: number, beginning: Uint8Array): boolean {
  return beginning.every((byte, offset) => bytes[at + offset] === byte);
}

/** The quote of the first string from `start` to `end` that begins with these bytes; -1 when there is none. */
export function findBeginning(bytes: Uint8Array, beginning: Uint8Array, start: number, end: number): number {
  let at = bytes.indexOf(quote, start);
  while (at !== -1 && at + beginning.length < end) {
    if (beginsWith(bytes, at + 1, beginning)) return at;
    at = bytes.indexOf(quote, at + 1);
  }
  return -1;
}

function skipWord(bytes: Uint8Array, at: number, word: string): number {
  for (let offset = 0; offset < word.length; offset++) {
    if (bytes[at + offset] !== word.charCodeAt(offset)) return ~Math.min(at + offset, bytes.length);
  }
  return at + word.length;
}

/** `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`, RFC 8259 section 6. */
function skipNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] === 0x2d ? at + 1 : at;
  let end = bytes[first] === 0x30 ? first + 1 : skipDigits(bytes, first);
  if (end > first && bytes[end] === 0x2e) end = skipSomeDigits(bytes, end + 1);
  if (end > first && (bytes[end] === 0x65 || bytes[end] === 0x45)) {
    const signed = bytes[end + 1] === 0x2b || bytes[end + 1] === 0x2d;
    end = skipSomeDigits(bytes, end + (signed ? 2 : 1));
  }
  return end === first ? ~Math.min(end, bytes.length) : end;
}

function skipSomeDigits(bytes: Uint8Array, at: number): number {
  const end = skipDigits(bytes, at);
  return end === at ? ~Math.min(at, bytes.length) : end;
}

function skipDigits(bytes: Uint8Array, start: number): number {
  const near = Math.min(start + nearBytes, bytes.length);
  for (let at = start; at < near; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return at;
  }
  return near === bytes.length ? near : findRowEnd(bytes, near, 'digits');
}

/** The kind of a value, by its first byte. `none`: no JSON value begins so. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'none';

/**
 * Why the bytes are not the JSON that was looked for, and where (bytes from the start).
 * `unexpected`: a byte that does not fit · `truncated`: they end too early · `too-deep`: nested beyond `depthMax` · `too-many`: more
 * members or elements than are stepped through.
 */
export interface JsonFailure {
  readonly kind: 'unexpected' | 'truncated' | 'too-deep' | 'too-many';
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
  /** The object or array at hand was entered just now, so that no comma is due. */
  #entered = false;
  #depth = 0;
  #steps = 0;
  #marks = 0;
  readonly #longTexts: LongTexts | null;

  constructor(bytes: Uint8Array, at = 0, longTexts: LongTexts | null = null) {
    this.bytes = bytes;
    this.#longTexts = longTexts;
    this.at = skipSpace(bytes, at);
  }

  get kind(): JsonKind {
    const byte = this.bytes[this.at];
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

  /** Steps into the object at hand. Any other value is skipped, and it says false. */
  enterObject(): boolean {
    return this.#enter(0x7b);
  }

  /** Steps into the array at hand. Any other value is skipped, and it says false. */
  enterArray(): boolean {
    return this.#enter(0x5b);
  }

  /** Steps to the next member's value, or out of the object. A call walks over dozens of members: nearly all of a step is here. */
  nextMember(): boolean {
    if (!this.#next(0x7d)) return false;
    const { bytes } = this;
    const start = this.at;
    if (bytes[start] !== quote) return this.#fail(~start);
    let end = start + 1;
    const near = Math.min(end + nearBytes, bytes.length);
    while (end < near && bytes[end] !== quote && bytes[end] !== backslash) end++;
    if (end < near && bytes[end] === quote) end++;
    else {
      end = skipString(bytes, start);
      if (end < 0) return this.#fail(end);
    }
    this.keyStart = start + 1;
    this.keyEnd = end - 1;
    const colon = bytes[end] === 0x3a ? end : skipSpaces(bytes, end);
    if (bytes[colon] !== 0x3a) return this.#fail(~colon);
    const at = colon + 1;
    this.at = (bytes[at] ?? 0) > 0x20 ? at : skipSpaces(bytes, at);
    return true;
  }

  /** Steps to the next element, or out of the array. */
  nextElement(): boolean {
    return this.#next(0x5d);
  }

  /** Skips the value at hand and returns its end, or -1 when it fails. */
  skip(watch: StringWatch | null = null): number {
    if (this.failure !== null) return -1;
    const { bytes, at } = this;
    const end =
      bytes[at] === quote && this.#longTexts === null
        ? skipString(bytes, at)
        : skipValue(bytes, at, depthMax - this.#depth, watch, this.#longTexts);
    if (end < 0) {
      this.#fail(end);
      return -1;
    }
    if (end - at >= largeBytesMin && ((bytes[at] ?? 0) | 0x20) === 0x7b && this.#isTooMuch()) return -1;
    this.at = end;
    return end;
  }

  /** Counts what was skipped just now, where it was an object or an array of some size. */
  #isTooMuch(): boolean {
    this.#marks += marksSkipped();
    return this.#marks > marksMax && !this.#fail(tooMany);
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
    const { bytes } = this;
    let { at } = this;
    if (!((bytes[at] ?? 0) > 0x20)) at = skipSpaces(bytes, at);
    if (bytes[at] === close) {
      this.#entered = false;
      this.#depth--;
      this.at = at + 1;
      return false;
    }
    if (!this.#entered) {
      if (bytes[at] !== 0x2c) return this.#fail(~at);
      at++;
      if (!((bytes[at] ?? 0) > 0x20)) at = skipSpaces(bytes, at);
    }
    this.#entered = false;
    this.at = at;
    return ++this.#steps <= stepsMax || this.#fail(tooMany);
  }

  #fail(code: number): false {
    const isBound = code === tooDeep || code === tooMany;
    const at = Math.min(isBound ? this.at : ~code, this.bytes.length);
    const misfit = at === this.bytes.length ? 'truncated' : 'unexpected';
    this.failure = { kind: code === tooDeep ? 'too-deep' : code === tooMany ? 'too-many' : misfit, at };
    return false;
  }
}
