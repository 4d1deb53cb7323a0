/** Parts of one form; a form of ours has some twenty fields and sixteen images. */
const partsMax = 256;
/** One part's header lines. Bytes. */
const headBytesMax = 8_192;
/** RFC 2046, section 5.1.1. Characters. */
const boundaryCharsMax = 70;
/** Bytes read one by one before `indexOf` takes over, whose call costs about as much. */
const nearBytes = 96;
/** A sample of so many bytes tells which bytes of a form are rare. */
const sampledBytes = 4_096;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const dash = 0x2d;

/** One field of a form, and where its value stands in the bytes. */
export interface FormPart {
  readonly name: string;
  /** It names a file: then its value is data, whatever its name. */
  readonly isFile: boolean;
  readonly start: number;
  readonly end: number;
}

export type FormReading =
  | { readonly ok: true; readonly parts: readonly FormPart[] }
  /** `problem` completes a sentence that begins with "The form". */
  | { readonly ok: false; readonly problem: string };

/**
 * The boundary in a `multipart/form-data` content type, null when the type is another one or names none that is valid
 * (RFC 2046, section 5.1.1).
 */
export function formBoundary(contentType: string): string | null {
  if (!isForm(contentType)) return null;
  const found = [...contentType.matchAll(/;\s*boundary=(?:"([^"]*)"|([^\s;"]*))\s*(?=;|$)/gi)];
  const boundary = found[0]?.[1] ?? found[0]?.[2] ?? '';
  const isValid = /^[\w'()+,./:=? -]*[\w'()+,./:=?-]$/.test(boundary) && boundary.length <= boundaryCharsMax;
  return found.length === 1 && isValid ? boundary : null;
}

export function isForm(contentType: string): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType);
}

/**
 * Finds the fields of a form in its bytes, without taking it apart: what goes upstream are the caller's own bytes, with at
 * most one value spliced. That is why no parser of streams is used here (@fastify/busboy is this one's oracle in tests):
 * those give values and no positions. Read strictly (RFC 7578), because an upstream must not see another model than the
 * one that is billed: what two parsers could read in two ways is refused, such as a boundary behind half a line end, which
 * some take for one, or a name given twice in one part.
 *
 * Linear: `DelimiterSearch` compares no byte twice.
 */
export function readForm(
  bytes: Uint8Array,
  boundary: string,
  surveyed: DelimiterSearch | null = null,
): FormReading {
  const mark = new TextEncoder().encode(`--${boundary}`);
  const parts: FormPart[] = [];
  // The first delimiter needs no line before it.
  if (!matches(bytes, mark, 0)) return malformed('does not begin with its boundary');
  const search = surveyed ?? new DelimiterSearch(bytes, boundary);
  search.step(bytes.length);
  const { found: delimiters } = search;
  if (search.hasHalfLineEnd) return malformed(halfLineEnd);
  let at = mark.length;
  while (!isClosing(bytes, at)) {
    const next = delimiters[parts.length] ?? -1;
    const part = readPart(bytes, next, at);
    if (typeof part === 'string') return malformed(part);
    parts.push(part);
    if (parts.length > partsMax) return malformed(`has more than ${partsMax} parts`);
    at = next + mark.length;
  }
  return { ok: true, parts };
}

const halfLineEnd = 'has a boundary that no whole line end precedes';

function malformed(problem: string): FormReading {
  return { ok: false, problem };
}

/** Reads the part between the delimiter that ends at `at` and the next one, -1 where there is none; its problem when it cannot be read. */
function readPart(bytes: Uint8Array, next: number, at: number): FormPart | string {
  const headStart = lineEnd(bytes, at);
  if (headStart === -1) return 'has text behind a boundary';
  const head = readHead(bytes, headStart);
  if (head === null) return 'has a part whose header cannot be read';
  // The line end before the delimiter is its own.
  const end = next - 2;
  if (next === -1 || end < head.end) return 'has a part that breaks off';
  if (bytes[end] !== carriageReturn) return halfLineEnd;
  return { name: head.name, isFile: head.isFile, start: head.end, end };
}

function isClosing(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === dash && bytes[at + 1] === dash;
}

/** The position after the line end at `at`, which white space may precede; -1 when something else does. */
function lineEnd(bytes: Uint8Array, at: number): number {
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at++;
  return bytes[at] === carriageReturn && bytes[at + 1] === lineFeed ? at + 2 : -1;
}

function matches(bytes: Uint8Array, pattern: Uint8Array, at: number): boolean {
  for (let offset = 0; offset < pattern.length; offset++) {
    if (bytes[at + offset] !== pattern[offset]) return false;
  }
  return true;
}

/**
 * Finds the boundaries behind a line feed, but for the first, and no more of them than a form may have, some bytes in each step.
 * They are found by the byte of theirs that the form has fewest of: a picture has each byte now and then, and a text that
 * is all line feeds has no other. What stands before a boundary is looked at first, and it has no line end in it.
 */
export class DelimiterSearch {
  readonly found: number[] = [];
  /** A boundary stands behind half a line end. */
  hasHalfLineEnd = false;
  readonly #bytes: Uint8Array;
  readonly #mark: Uint8Array;
  /** The place in the mark of the byte that is looked for. */
  readonly #offset: number;
  #at: number;

  constructor(bytes: Uint8Array, boundary: string) {
    this.#bytes = bytes;
    this.#mark = new TextEncoder().encode(`--${boundary}`);
    this.#offset = rarestIn(bytes, this.#mark);
    this.#at = this.#offset + 1;
  }

  /** Goes on for about so many bytes. False when there are no more. */
  step(count: number): boolean {
    const bytes = this.#bytes;
    const mark = this.#mark;
    const end = Math.min(this.#at + count, bytes.length);
    const slice = bytes.subarray(0, end);
    const byte = mark[this.#offset] ?? 0;
    for (let at = findByte(slice, byte, this.#at); at !== -1; at = findByte(slice, byte, at + 1)) {
      const start = at - this.#offset;
      const before = bytes[start - 1];
      if ((before !== lineFeed && before !== carriageReturn) || !matches(bytes, mark, start)) continue;
      if (before === carriageReturn) this.hasHalfLineEnd = true;
      else if (this.found.length < partsMax + 2) this.found.push(start);
    }
    this.#at = end;
    return end < bytes.length;
  }
}

/** The place in the mark of the byte that a sample of the form has least often. */
function rarestIn(bytes: Uint8Array, mark: Uint8Array): number {
  const seen = new Uint32Array(256);
  const step = Math.max(1, Math.floor(bytes.length / sampledBytes));
  for (let at = 0; at < bytes.length; at += step) seen[bytes[at] ?? 0] = (seen[bytes[at] ?? 0] ?? 0) + 1;
  let rarest = 0;
  for (let offset = 1; offset < mark.length; offset++)
    if ((seen[mark[offset] ?? 0] ?? 0) < (seen[mark[rarest] ?? 0] ?? 0)) rarest = offset;
  return rarest;
}

function findByte(bytes: Uint8Array, byte: number, from: number): number {
  const near = Math.min(from + nearBytes, bytes.length);
  for (let at = from; at < near; at++) if (bytes[at] === byte) return at;
  return bytes.indexOf(byte, near);
}

interface PartHead {
  readonly name: string;
  readonly isFile: boolean;
  /** Its value begins here. */
  readonly end: number;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads header lines up to a blank one. Null when there is not exactly one disposition with exactly one name. */
function readHead(bytes: Uint8Array, start: number): PartHead | null {
  const text = decodeText(bytes, start, blankLineAfter(bytes, start));
  if (text === null) return null;
  const lines = text.split('\r\n');
  const dispositions = lines.filter((line) => /^content-disposition\s*:/i.test(line));
  // A line that begins with white space would go on with the one before it, and one with half a line end is two to some.
  if (dispositions.length !== 1 || lines.some((line) => /^\s|[\r\n]/.test(line))) return null;
  const named = readDisposition(dispositions[0] ?? '');
  return named === null ? null : { ...named, end: blankLineAfter(bytes, start) + 4 };
}

/** Finds a blank line, from the end of the line before it; `start` when there is none near enough. */
function blankLineAfter(bytes: Uint8Array, start: number): number {
  const end = Math.min(start + headBytesMax, bytes.length - 3);
  for (let at = start; at < end; at++) {
    if (lineEnd(bytes, at) === at + 2 && lineEnd(bytes, at + 2) === at + 4) return at;
  }
  return start;
}

const parameter = /\s*;\s*([\w-]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))/gy;

/** The names in `form-data; name="model"; filename="a.png"`; null for any other disposition, and for one with rests. */
function readDisposition(line: string): Pick<PartHead, 'name' | 'isFile'> | null {
  const opening = /^content-disposition\s*:\s*form-data/i.exec(line);
  if (opening === null) return null;
  const rest = line.slice(opening[0].length);
  const found = [...rest.matchAll(parameter)];
  const length = found.reduce((sum, [text]) => sum + text.length, 0);
  const names = found.filter(([, key]) => /^name\*?$/i.test(key ?? ''));
  if (names.length !== 1 || names[0]?.[1]?.endsWith('*') === true || rest.slice(length).trim() !== '')
    return null;
  const [, , quoted, bare] = names[0] ?? [];
  const isFile = found.some(([, key]) => /^filename\*?$/i.test(key ?? ''));
  return { name: quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? '', isFile };
}

/** The text of a field; null when it is not valid UTF-8. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string | null {
  try {
    return strictUtf8.decode(bytes.subarray(start, end));
  } catch {
    return null;
  }
}
