import { skipSpace } from './scan.ts';

/** A value among bytes: a string with its quotes, a number, an object. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Bytes of one escaped letter. */
const escapeBytesMax = 6;

interface Name<Text> {
  readonly text: Text;
  readonly bytes: Uint8Array;
}

/** The member names a reader looks for, compared in place: no string is made of a key. Names are ASCII. */
export class KeyNames<Text extends string> {
  readonly #byLength: readonly (readonly Name<Text>[])[];

  constructor(names: readonly Text[]) {
    const encoder = new TextEncoder();
    const longest = Math.max(...names.map((name) => name.length));
    this.#byLength = Array.from({ length: longest + 1 }, (_, length) =>
      names.filter((name) => name.length === length).map((text) => ({ text, bytes: encoder.encode(text) })),
    );
  }

  /**
   * The name that is spelt letter by letter in the span (a key without its quotes), or null. `ignored` are bits that may differ:
   * 0x20 is what tells an upper-case from a lower-case letter.
   */
  find(bytes: Uint8Array, start: number, end: number, ignored = 0): Text | null {
    const candidates = this.#byLength[end - start];
    if (candidates === undefined) return null;
    for (const { text, bytes: name } of candidates) {
      let offset = 0;
      while (offset < name.length && (((bytes[start + offset] ?? 0) ^ (name[offset] ?? 0)) & ~ignored) === 0)
        offset++;
      if (offset === name.length) return text;
    }
    return null;
  }

  /** The same when the case of the letters is ignored. */
  findAnyCase(bytes: Uint8Array, start: number, end: number): Text | null {
    return this.find(bytes, start, end, 0x20);
  }

  /** The same for a key that may be spelt with escapes: `"mod\u0065l"` is `model`. */
  findDecoded(bytes: Uint8Array, start: number, end: number): Text | null {
    return (
      this.find(bytes, start, end) ??
      (this.#mayBeEscaped(bytes, start, end) ? this.#decode(bytes, start, end) : null)
    );
  }

  /** The key has escapes, and is short enough to be a name all of whose letters are escaped. */
  #mayBeEscaped(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > this.#byLength.length * escapeBytesMax) return false;
    for (let at = start; at < end; at++) if (bytes[at] === 0x5c) return true;
    return false;
  }

  #decode(bytes: Uint8Array, start: number, end: number): Text | null {
    const key = decodeString(bytes, start - 1, end + 1);
    if (key === null) return null;
    return this.#byLength[key.length]?.find((name) => name.text === key)?.text ?? null;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Characters of a string up to which it is put together here; from there on the decoder is the faster one. */
const shortCharsMax = 32;

/** The text of a JSON string, its quotes within the span; null when its escapes or its UTF-8 are not valid. */
export function decodeString(bytes: Uint8Array, start: number, end: number): string | null {
  const value = decodeJson(bytes, start, end);
  return typeof value === 'string' ? value : null;
}

/** The value a span of JSON text stands for; undefined when it is not valid JSON in valid UTF-8. */
export function decodeJson(bytes: Uint8Array, start: number, end: number): unknown {
  return bytes[start] === 0x22
    ? (shortString(bytes, start + 1, end - 1) ?? parse(bytes, start, end))
    : parse(bytes, start, end);
}

/** Counts, names and errors are not longer than this; what is, is something else. Bytes. */
const spanBytesMax = 256 * 1024;

/** The same of a place in it, which is to be short; undefined where there is none. */
export function decodeSpan(bytes: Uint8Array, span: TextSpan | null | undefined): unknown {
  return span && span.end - span.start <= spanBytesMax ? decodeJson(bytes, span.start, span.end) : undefined;
}

function parse(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(strictUtf8.decode(bytes.subarray(start, end)));
  } catch {
    return undefined;
  }
}

/**
 * A short string of plain ASCII between its quotes; null for any other. Names of models and the like are read several
 * times a call, and this takes a third of the decoder's and the parser's time.
 */
function shortString(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start > shortCharsMax || bytes[end] !== 0x22) return null;
  let text = '';
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c) return null;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Bytes of UTF-8 a JSON string stands for, its quotes within the span: escapes count as what they mean. */
export function writtenBytes(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start + 1; at < end - 1; at++) {
    length++;
    if (bytes[at] !== 0x5c) continue;
    at++;
    if (bytes[at] !== 0x75) continue;
    length += escapedBytes(bytes, at + 1) - 1;
    at += 4;
  }
  return length;
}

/** Bytes of UTF-8 for `\uXXXX`, by its first digits; each half of a pair counts two of its four. */
function escapedBytes(bytes: Uint8Array, digits: number): number {
  const isZero = (offset: number) => bytes[digits + offset] === 0x30;
  if (isZero(0) && isZero(1) && (bytes[digits + 2] ?? 0) < 0x38) return 1;
  if (isZero(0) && (bytes[digits + 1] ?? 0) < 0x38) return 2;
  const isSurrogate = ((bytes[digits] ?? 0) | 0x20) === 0x64 && (bytes[digits + 1] ?? 0) >= 0x38;
  return isSurrogate ? 2 : 3;
}

/** A filled value is more than null, false, a number, `""`, `[]` or `{}`. */
export function isFilled(bytes: Uint8Array, start: number, end: number): boolean {
  switch (bytes[start]) {
    case 0x22:
      return end - start > 2;
    case 0x5b:
    case 0x7b:
      return skipSpace(bytes, start + 1) < end - 1;
    default:
      return false;
  }
}
