import type { UpstreamHead, UpstreamHeaders } from '../ports/upstream.ts';
import { ChunkedDecoder } from './chunked.ts';

/** Bound of an answer's heads together, and of the trailers behind a chunked body. */
export const maxHeadBytes = 65_536;

/** How the end of an answer's body is known (RFC 9112, 6.3). */
export type BodyFraming = 'none' | 'length' | 'chunked' | 'until-close';

const extensionBytesMax = 4_096;

/**
 * A head without the empty line that ends it. Strict where laxness has let answers be read as two: folded lines, blanks
 * before the colon and bare line feeds are no part of the grammar.
 */
const grammar =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: |\r|$)/;
const strayControl = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/;
const limitsName = /ratelimit-/i;

/** Headers that frame a body, and the one that says that it is compressed, as bits of a set. */
const named = { length: 1, coding: 2, connection: 4, hint: 8, encoding: 16 } as const;

/** A head as it came: read for what frames the body, and for the rest only when a header is asked for. */
export class ResponseHead implements UpstreamHead, UpstreamHeaders {
  readonly status: number;
  readonly framing: BodyFraming;
  /** Bytes of a body framed by its length; 0 of any other. */
  readonly length: number;
  /** The connection can carry another request after this answer. */
  readonly keepsAlive: boolean;
  /** A contradiction in the head; null when there is none. */
  readonly problem: string | null;
  /** How long the server says it keeps an idle connection; null when it does not say. */
  readonly keepAlive: string | null;
  /** The body may be compressed. */
  readonly isCoded: boolean;
  readonly #text: string;

  /** @param text fits the grammar. */
  constructor(text: string) {
    this.#text = text;
    this.status = Number(text.slice(9, 12));
    const names = framingNames(text);
    this.isCoded = (names & named.encoding) !== 0;
    const coding = (names & named.coding) === 0 ? null : (this.get('transfer-encoding') ?? '').toLowerCase();
    const length = (names & named.length) === 0 ? null : readLength(this.get('content-length') ?? '');
    const isNewer = text.charCodeAt(7) === 0x31;
    this.framing = framingOf(this.status, coding, length);
    this.length = this.framing === 'length' ? (length ?? 0) : 0;
    this.problem = problemIn(this.framing, isNewer, coding, length);
    this.keepAlive = (names & named.hint) === 0 ? null : (this.get('keep-alive') ?? null);
    // An upstream that announces a body where none is allowed may send it, and it would be taken for the next answer.
    const isAmbiguous = this.framing === 'none' && (coding !== null || (length ?? 0) !== 0);
    const connection = (names & named.connection) === 0 ? '' : (this.get('connection') ?? '').toLowerCase();
    const staysOpen = isNewer ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
    this.keepsAlive = staysOpen && this.framing !== 'until-close' && !isAmbiguous;
  }

  get headers(): UpstreamHeaders {
    return this;
  }

  get tellsLimits(): boolean {
    return limitsName.test(this.#text);
  }

  get(name: string): string | undefined {
    const text = this.#text;
    let joined: string | undefined;
    for (let at = text.indexOf('\r\n'); at !== -1; ) {
      const start = at + 2;
      const colon = text.indexOf(':', start);
      at = text.indexOf('\r\n', colon);
      if (colon - start !== name.length || !isNamed(text, start, name)) continue;
      const value = withoutBlanksAround(text, colon + 1, at === -1 ? text.length : at);
      joined = joined === undefined ? value : `${joined}, ${value}`;
    }
    return joined;
  }

  *[Symbol.iterator](): Iterator<readonly [string, string]> {
    const seen = new Set<string>();
    for (const line of this.#text.split('\r\n').slice(1)) {
      const name = line.slice(0, line.indexOf(':')).toLowerCase();
      if (seen.has(name)) continue;
      seen.add(name);
      yield [name, this.get(name) ?? ''];
    }
  }
}

/** Which of the headers that frame a body are there. A name is known by its length first: few are looked at. */
function framingNames(text: string): number {
  let names = 0;
  for (let at = text.indexOf('\r\n'); at !== -1; ) {
    const start = at + 2;
    const colon = text.indexOf(':', start);
    const length = colon - start;
    if (length === 14 && isNamed(text, start, 'content-length')) names |= named.length;
    else if (length === 16 && isNamed(text, start, 'content-encoding')) names |= named.encoding;
    else if (length === 17 && isNamed(text, start, 'transfer-encoding')) names |= named.coding;
    else if (length === 10 && isNamed(text, start, 'connection')) names |= named.connection;
    else if (length === 10 && isNamed(text, start, 'keep-alive')) names |= named.hint;
    at = text.indexOf('\r\n', colon);
  }
  return names;
}

function framingOf(status: number, coding: string | null, length: number | null): BodyFraming {
  if (status < 200 || status === 204 || status === 304) return 'none';
  if (coding !== null) return 'chunked';
  return length === null ? 'until-close' : 'length';
}

function problemIn(
  framing: BodyFraming,
  isNewer: boolean,
  coding: string | null,
  length: number | null,
): string | null {
  if (coding !== null && length !== null) return 'both a length and a transfer coding';
  if (framing === 'chunked' && !(isNewer && coding === 'chunked')) return 'an unknown transfer coding';
  return framing === 'length' && length === -1 ? 'a malformed length' : null;
}

/** True when the token at `start` is this name, which is in lower case and of letters and hyphens. */
function isNamed(text: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    const code = text.charCodeAt(start + index);
    const lower = code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
    if (lower !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** `trim` would take more than blanks and tabs. */
function withoutBlanksAround(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  for (let code = text.charCodeAt(from); from < to && (code === 0x20 || code === 0x09); )
    code = text.charCodeAt(++from);
  for (let code = text.charCodeAt(to - 1); to > from && (code === 0x20 || code === 0x09); )
    code = text.charCodeAt(--to - 1);
  return text.slice(from, to);
}

/** A length may be repeated, but not with another value (RFC 9110, 8.6). -1 for what is none. */
function readLength(lengths: string): number {
  if (/^\d{1,15}$/.test(lengths)) return Number(lengths);
  const [first = '', ...others] = lengths.split(', ');
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first)) return -1;
  return Number(first);
}

/** `timeout=5` in milliseconds; null when it does not say. */
export function keepAliveHintMs(keepAlive: string | null): number | null {
  const match = /\btimeout="?(\d{1,6})/.exec(keepAlive ?? '');
  return match === null ? null : Number(match[1]) * 1000;
}

/** Receives an answer as it is read. */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  onData(chunk: Uint8Array): void;
}

/** `more`: the answer goes on · `complete`: it ended within these bytes · `garbled`: it is not HTTP; see `problem`. */
export type ParseState = 'more' | 'complete' | 'garbled';

/**
 * Reads answers to a GET or POST, one after the other. The bytes it is given are rearranged, and copied only where the
 * next ones are needed to understand them.
 */
export class ResponseParser {
  /** Says why, once `read` has said `garbled`. */
  problem = '';
  /** Final head; null while none has come. */
  head: ResponseHead | null = null;
  /** Bytes followed the end of the answer: the connection is out of step and must not be used again. */
  hasSurplus = false;
  #sink: ResponseSink;
  /** Bytes of a head that has not ended yet. */
  #partialHead: Buffer | null = null;
  /** Size of all heads, the interim ones included. */
  #headBytes = 0;
  #remaining = 0;
  readonly #chunked = new ChunkedDecoder({ lineBytesMax: extensionBytesMax, trailerBytesMax: maxHeadBytes });

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** The next answer is another one's. */
  expect(sink: ResponseSink): void {
    this.#sink = sink;
    this.head = null;
    this.#partialHead = null;
    this.#headBytes = 0;
  }

  read(bytes: Buffer): ParseState {
    return this.head === null ? this.#readHead(bytes) : this.#readBody(this.head, bytes, 0);
  }

  /** The connection ended in an orderly way: whether that is the end of the answer. */
  endsWithConnection(): boolean {
    return this.head?.framing === 'until-close';
  }

  #readHead(arrived: Buffer): ParseState {
    const bytes = this.#partialHead === null ? arrived : Buffer.concat([this.#partialHead, arrived]);
    let start = 0;
    while (true) {
      const end = bytes.indexOf('\r\n\r\n', start, 'latin1');
      const isTooLong = (end === -1 ? bytes.length : end) - start + this.#headBytes > maxHeadBytes;
      if (isTooLong) return this.#fail(`a head of more than ${maxHeadBytes} bytes`);
      if (end === -1) return this.#keepPartialHead(bytes.subarray(start));
      const text = bytes.toString('latin1', start, end);
      if (!grammar.test(text)) return this.#fail(problemOf(text));
      const head = new ResponseHead(text);
      if (head.problem !== null) return this.#fail(head.problem);
      this.#headBytes += end - start;
      start = end + 4;
      if (head.status === 101) return this.#fail('an upgrade that was not asked for');
      if (head.status >= 200) return this.#begin(head, bytes, start);
    }
  }

  #keepPartialHead(bytes: Buffer): ParseState {
    const opening = 'HTTP/1.';
    if (!opening.startsWith(bytes.toString('latin1', 0, opening.length)))
      return this.#fail('no HTTP/1 status line');
    this.#partialHead = Buffer.from(bytes);
    return 'more';
  }

  #begin(head: ResponseHead, bytes: Buffer, bodyStart: number): ParseState {
    this.head = head;
    this.#partialHead = null;
    this.#remaining = head.length;
    if (head.framing === 'chunked') this.#chunked.reset();
    this.#sink.onHead(head);
    return this.#readBody(head, bytes, bodyStart);
  }

  #readBody({ framing }: ResponseHead, bytes: Buffer, start: number): ParseState {
    if (framing === 'length') return this.#readCounted(bytes, start);
    if (framing === 'chunked') return this.#readChunked(bytes, start);
    if (framing === 'none') return this.#complete(bytes, start);
    this.#deliver(bytes, start, bytes.length);
    return 'more';
  }

  #readCounted(bytes: Buffer, start: number): ParseState {
    const end = Math.min(bytes.length, start + this.#remaining);
    this.#remaining -= end - start;
    this.#deliver(bytes, start, end);
    return this.#remaining === 0 ? this.#complete(bytes, end) : 'more';
  }

  #readChunked(bytes: Buffer, start: number): ParseState {
    const decoder = this.#chunked;
    const end = decoder.decode(bytes, start);
    this.#deliver(bytes, decoder.dataStart, decoder.dataEnd);
    if (decoder.isGarbled) return this.#fail('a malformed chunk');
    return decoder.isComplete ? this.#complete(bytes, end) : 'more';
  }

  #deliver(bytes: Buffer, start: number, end: number): void {
    if (end > start) this.#sink.onData(bytes.subarray(start, end));
  }

  #complete(bytes: Buffer, end: number): ParseState {
    this.hasSurplus = end < bytes.length;
    return 'complete';
  }

  #fail(problem: string): ParseState {
    this.problem = problem;
    return 'garbled';
  }
}

/** Why a head does not fit the grammar. */
function problemOf(text: string): string {
  if (strayControl.test(text)) return 'a control character in the head';
  return statusLine.test(text) ? 'a malformed header line' : 'no HTTP/1 status line';
}
