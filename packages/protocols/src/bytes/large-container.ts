import compiled from './large-container.json' with { type: 'json' };
import type { LongTexts } from './long-texts.ts';

/** Looks at the strings inside a skipped object or array, by their length and beginning. `start` and `end` exclude the quotes. */
export interface StringWatch {
  /** Bit n is set when strings of n bytes are to be seen; n is at most 31. */
  readonly lengths: number;
  /** Strings longer than this are seen too. Bytes; at least 31. */
  readonly longerThan: number;
  see(bytes: Uint8Array, start: number, end: number): void;
  /** Set when a string began with `mark`, which is not empty. */
  hasMark: boolean;
  readonly mark: Uint8Array;
}

/** Up to here a call into the compiled code would cost more than it saves. */
export const largeBytesMin = 2_048;

/** Bytes given to the compiled code at a time: the text has as much room there. */
const chunkBytes = 8_192;
const notedAt = 24_576;

/** JavaScript's own API, which the types of Node leave out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Cell {
  value: number;
}

/** The exports of `large-container.wat`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly level: Cell;
  readonly depth: Cell;
  readonly noted: Cell;
  readonly lengths: Cell;
  readonly longerThan: Cell;
  readonly mark: Cell;
  readonly marks: Cell;
  readonly escaped: Cell;
  skip(length: number, isWatched: boolean): number;
  closingQuote(length: number): number;
  rowEnd(length: number, ofDigits: boolean): number;
}

const exports = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.fromBase64(compiled.wasm)))
  .exports as Exports; // A module's types are in its source only.

/** The reading of single strings, and the failures of which compiled code knows no numbers. */
interface ByOne {
  skipString(bytes: Uint8Array, at: number): number;
  look(watch: StringWatch, bytes: Uint8Array, start: number, end: number): void;
  readonly tooDeep: number;
  readonly tooMany: number;
}

/** Brackets and quotes that one reader passes over, each of which takes some nanoseconds; all else is passed over thirty bytes at a time. */
export const marksMax = 1_000_000;

/** The brackets and quotes of the object or array that was skipped last. */
export function marksSkipped(): number {
  return exports.marks.value;
}

/**
 * Skips an object or array as `skipContainer` does, thirty-two bytes in a step, which takes a quarter of its time where there are
 * many small members. A string that goes beyond a chunk is skipped by itself, faster still. Nothing is kept from one call to
 * the next.
 */
export function skipLargeContainer(
  bytes: Uint8Array,
  start: number,
  depth: number,
  watch: StringWatch | null,
  byOne: ByOne,
  longTexts: LongTexts | null,
): number {
  exports.level.value = 0;
  exports.marks.value = 0;
  exports.depth.value = depth;
  if (watch !== null) {
    exports.lengths.value = watch.lengths;
    exports.longerThan.value = watch.longerThan;
    exports.mark.value = watch.mark[0] ?? 0;
  }
  const chunk = new Uint8Array(exports.memory.buffer, 0, chunkBytes);
  let at = start;
  while (at < bytes.length) {
    const piece = bytes.subarray(at, at + chunkBytes);
    chunk.set(piece);
    const result = exports.skip(piece.length, watch !== null);
    const reached = at + (result >>> 2);
    if (watch !== null) lookAtNoted(watch, bytes, at, reached, byOne);
    const kind = result & 3;
    if (kind === 1) return reached;
    if (kind === 2) return ~reached;
    if (kind === 3) return byOne.tooDeep;
    if (exports.marks.value > marksMax) return byOne.tooMany;
    at = reached;
    if (bytes[at] !== 0x22) continue;
    at = longTexts?.endOf(reached) ?? byOne.skipString(bytes, reached);
    if (at < 0) return at;
    if (watch !== null) byOne.look(watch, bytes, reached + 1, at - 1);
  }
  return ~bytes.length;
}

/**
 * Finds the quote that closes a string from within it, where escaped quotes are too near each other for `indexOf`. `isEscaped`: the
 * byte at `start` is. The text's length where there is none.
 */
export function findClosingQuote(bytes: Uint8Array, start: number, isEscaped: boolean): number {
  return closingQuoteWithin(bytes, start, bytes.length, isEscaped);
}

/** The same up to `end`, which it returns where there is none; a multiple of a step away, or the text's end. */
export function closingQuoteWithin(
  bytes: Uint8Array,
  start: number,
  end: number,
  isEscaped: boolean,
): number {
  exports.escaped.value = isEscaped ? 1 : 0;
  return inChunks(bytes, start, end, closingQuote);
}

/** Tells if the byte is escaped before which the last search for a closing quote has ended. */
export function isNextEscaped(): boolean {
  return exports.escaped.value === 1;
}

const closingQuote = (length: number): number => exports.closingQuote(length);

/** Tells where a long row of white space ends, or of digits. */
export function findRowEnd(bytes: Uint8Array, start: number, kind: 'space' | 'digits'): number {
  return inChunks(bytes, start, bytes.length, rowEnds[kind]);
}

const rowEnds = {
  space: (length: number): number => exports.rowEnd(length, false),
  digits: (length: number): number => exports.rowEnd(length, true),
};

/** The first byte that the compiled code finds in one of the chunks; the end where it finds none. */
function inChunks(bytes: Uint8Array, start: number, end: number, find: (length: number) => number): number {
  const chunk = new Uint8Array(exports.memory.buffer, 0, chunkBytes);
  for (let at = start; at < end; at += chunkBytes) {
    const piece = bytes.subarray(at, Math.min(at + chunkBytes, end));
    chunk.set(piece);
    const found = find(piece.length);
    if (found < piece.length) return at + found;
  }
  return end;
}

/** The last step may have gone some strings beyond the end of the container. */
function lookAtNoted(
  watch: StringWatch,
  bytes: Uint8Array,
  from: number,
  end: number,
  { look }: ByOne,
): void {
  const noted = new Uint32Array(exports.memory.buffer, notedAt, 2 * exports.noted.value);
  for (let index = 0; index < noted.length; index += 2) {
    const start = from + (noted[index] ?? 0);
    if (start < end) look(watch, bytes, start, from + (noted[index + 1] ?? 0));
  }
}
