import { findClosingQuote } from './large-container.ts';

const quote = 0x22;
const backslash = 0x5c;

/** A row of backslashes that is longer is not walked back over. */
const rowBytes = 96;

/** Code and JSON in a string have an escaped quote in every line: there `indexOf` would be called for each of them. */
export function skipLongString(bytes: Uint8Array, start: number): number {
  let from = start;
  for (;;) {
    const found = bytes.indexOf(quote, from);
    if (found === -1) return ~bytes.length;
    const isBehindRow = bytes[found - 1] === backslash && bytes[found - rowBytes] === backslash;
    if (isBehindRow) return skipDenseString(bytes, start, false);
    if (!isEscaped(bytes, start, found)) return found + 1;
    from = skipQuotes(bytes, found + 1);
    if (from < 0) return -from;
    if (from - found > denseBytes) return skipDenseString(bytes, from, isEscaped(bytes, start, from));
  }
}

/** The rest of a string whose quotes or backslashes are near each other. */
function skipDenseString(bytes: Uint8Array, from: number, isFirstEscaped: boolean): number {
  const end = findClosingQuote(bytes, from, isFirstEscaped);
  return end === bytes.length ? ~end : end + 1;
}

/** Bytes of a text whose quotes are near each other, from which on compiled code is the faster one. */
const denseBytes = 4_096;

/** Words of four bytes without a quote from which on `indexOf` is the faster one. */
const sparseWords = 128;

/**
 * Goes on behind an escaped quote, four bytes in a step, for as long as quotes are near each other, and no further than
 * `denseBytes`. Returns the negative of the position after the closing quote, or a position from where it is worth calling
 * `indexOf` again.
 */
function skipQuotes(bytes: Uint8Array, start: number): number {
  const offset = (bytes.byteOffset + start + 3) & ~3;
  const base = Math.min(offset - bytes.byteOffset, bytes.length);
  for (let at = start; at < base; at++)
    if (bytes[at] === quote && !isEscaped(bytes, start, at)) return -(at + 1);
  if (base === bytes.length) return base;
  const words = new Int32Array(bytes.buffer, offset, (bytes.length - base) >> 2);
  const most = Math.min(words.length, denseBytes >> 2);
  let end = Math.min(most, sparseWords);
  for (let index = 0; index < end; index++) {
    // A byte of the difference is zero where the word has a quote, and the highest bit of the mask's byte is set there.
    const difference = (words[index] ?? 0) ^ 0x2222_2222;
    let mask = (difference - 0x0101_0101) & ~difference & 0x8080_8080;
    if (mask === 0) continue;
    end = Math.min(most, index + sparseWords);
    for (; mask !== 0; mask &= mask - 1) {
      const at = base + index * 4 + ((31 - Math.clz32(mask & -mask)) >> 3);
      if (bytes[at] === quote && !isEscaped(bytes, start, at)) return -(at + 1);
    }
  }
  return base + end * 4;
}

/** An odd number of backslashes stands right before `at`; none before `from` counts. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let start = at;
  while (start > from && bytes[start - 1] === backslash) start--;
  return (at - start) % 2 === 1;
}
