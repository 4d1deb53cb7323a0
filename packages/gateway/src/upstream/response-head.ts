import { fail, type Result, succeed } from '@headgate/protocols';

/** Bound of an answer's heads together, and of the trailers behind a chunked body. */
export const maxHeadBytes = 65_536;

/** Where an answer's body ends (RFC 9112, 6.3). */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names; a repeated header is joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: BodyFraming;
  /** Whether the connection can carry another request after this answer. */
  readonly keepsAlive: boolean;
}

interface StatusLine {
  readonly minorVersion: '0' | '1';
  readonly status: number;
}

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Control characters, and line ends that are not CR LF. */
const strayControl = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/;

/**
 * Reads a head without the empty line that ends it. Strict where laxness has let answers be read as two: folded lines,
 * blanks before the colon, bare line feeds and contradictory lengths are refused. The failure says what is wrong.
 */
export function readResponseHead(text: string): Result<ResponseHead, string> {
  if (strayControl.test(text)) return fail('a control character in the head');
  const lines = text.split('\r\n');
  const statusLine = readStatusLine(lines[0] ?? '');
  if (statusLine === null) return fail('no HTTP/1 status line');
  const headers = readHeaders(lines);
  if (headers === null) return fail('a malformed header line');
  const framing = readFraming(statusLine, headers);
  if (!framing.ok) return framing;
  const keepsAlive = readKeepsAlive(statusLine, headers, framing.value);
  return succeed({ status: statusLine.status, headers, framing: framing.value, keepsAlive });
}

function readStatusLine(line: string): StatusLine | null {
  const match = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(line);
  if (match === null) return null;
  return { minorVersion: match[1] === '0' ? '0' : '1', status: Number(match[2]) };
}

function readHeaders(lines: readonly string[]): Map<string, string> | null {
  const headers = new Map<string, string>();
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (!headerName.test(name)) return null;
    const value = withoutBlanksAround(line, colon + 1);
    const key = name.toLowerCase();
    const earlier = headers.get(key);
    headers.set(key, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return headers;
}

/** The rest of a line from `start` on. `trim` would take more than blanks and tabs. */
function withoutBlanksAround(line: string, start: number): string {
  let from = start;
  let to = line.length;
  while (from < to && isBlank(line.charCodeAt(from))) from += 1;
  while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1;
  return line.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function readFraming(
  { minorVersion, status }: StatusLine,
  headers: ReadonlyMap<string, string>,
): Result<BodyFraming, string> {
  const coding = headers.get('transfer-encoding');
  const lengths = headers.get('content-length');
  if (coding !== undefined && lengths !== undefined) return fail('both a length and a transfer coding');
  if (status < 200 || status === 204 || status === 304) return succeed({ kind: 'none' });
  if (coding !== undefined) {
    const known = minorVersion === '1' && coding.toLowerCase() === 'chunked';
    return known ? succeed({ kind: 'chunked' }) : fail('an unknown transfer coding');
  }
  if (lengths === undefined) return succeed({ kind: 'until-close' });
  const length = readLength(lengths);
  return length === null ? fail('a malformed length') : succeed({ kind: 'length', length });
}

/** A length may be repeated, but not with another value (RFC 9110, 8.6). */
function readLength(lengths: string): number | null {
  const [first = '', ...others] = lengths.split(', ');
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first)) return null;
  return Number(first);
}

function readKeepsAlive(
  { minorVersion }: StatusLine,
  headers: ReadonlyMap<string, string>,
  framing: BodyFraming,
): boolean {
  if (framing.kind === 'until-close') return false;
  // An upstream that announces a body where none is allowed may send it, and it would be taken for the next answer.
  if (framing.kind === 'none' && announcesBody(headers)) return false;
  const connection = headers.get('connection')?.toLowerCase() ?? '';
  return minorVersion === '1' ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
}

function announcesBody(headers: ReadonlyMap<string, string>): boolean {
  return headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0';
}

/** How long the server says it keeps an idle connection (`Keep-Alive: timeout=5`), in milliseconds; null when it does not say. */
export function keepAliveHintMs(headers: ReadonlyMap<string, string>): number | null {
  const match = /\btimeout="?(\d{1,6})/.exec(headers.get('keep-alive') ?? '');
  return match === null ? null : Number(match[1]) * 1000;
}
