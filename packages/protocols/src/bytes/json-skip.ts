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
export const tooDeep = -0x4000_0000;

/** Looks at the strings inside a skipped object or array, by their length. `start` and `end` exclude the quotes. */
export interface StringWatch {
  /** Bit n is set when strings of n bytes are to be seen; n is at most 31. */
  readonly lengths: number;
  /** Strings longer than this are seen too. Bytes; at least 31. */
  readonly longerThan: number;
  see(bytes: Uint8Array, start: number, end: number): void;
}

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

function skipSpaces(bytes: Uint8Array, at: number): number {
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
  return at;
}

export function skipValue(bytes: Uint8Array, at: number, depth: number, watch: StringWatch | null): number {
  switch (bytes[at]) {
    case quote:
      return skipString(bytes, at);
    case 0x7b:
    case 0x5b:
      return skipContainer(bytes, at, depth, watch);
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
  for (;;) {
    const near = Math.min(from + nearBytes, bytes.length);
    while (from < near) {
      const byte = bytes[from];
      if (byte === quote) return from + 1;
      from += byte === backslash ? 2 : 1;
    }
    if (from >= bytes.length) return ~bytes.length;
    const found = bytes.indexOf(quote, from);
    if (found === -1) return ~bytes.length;
    if (!isEscaped(bytes, from, found)) return found + 1;
    from = found + 1;
  }
}

/** Whether an odd number of backslashes stands right before `at`; none before `from` counts. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let start = at;
  while (start > from && bytes[start - 1] === backslash) start--;
  return (at - start) % 2 === 1;
}

/** Written as one tight loop: this is where a large body's time goes. */
function skipContainer(bytes: Uint8Array, at: number, depth: number, watch: StringWatch | null): number {
  if (depth <= 0) return tooDeep;
  // In ASCII `{` and `}`, `[` and `]` lie two apart, and the two kinds differ by 0x20 only.
  const close = (bytes[at] ?? 0) + 2;
  at++;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      const end = skipString(bytes, at);
      if (end < 0) return end;
      if (watch !== null && isWatched(watch, end - at - 2)) watch.see(bytes, at + 1, end - 1);
      at = end;
    } else if ((byte | 0x20) === 0x7b) {
      at = skipContainer(bytes, at, depth - 1, watch);
      if (at < 0) return at;
    } else if ((byte | 0x20) === 0x7d) {
      return byte === close ? at + 1 : ~at;
    } else {
      at++;
    }
  }
  return ~bytes.length;
}

function isWatched(watch: StringWatch, length: number): boolean {
  return length < 32 ? ((watch.lengths >>> length) & 1) === 1 : length > watch.longerThan;
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

function skipDigits(bytes: Uint8Array, at: number): number {
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return at;
    at++;
  }
  return at;
}
