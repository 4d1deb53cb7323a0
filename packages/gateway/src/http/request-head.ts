/** The longest head that is read here has fields enough for every client we know of, times four. */
const fieldsMax = 64;

/**
 * The head of a request as every parser in the world reads it: two methods, a path of RFC 3986's own characters, HTTP/1.1,
 * names that are tokens with the colon right behind, printable ASCII without tabs as values, and CRLF. It is a subset on purpose:
 * smuggled requests do not match it, nor does a tab, which `node:http` refuses behind `chunked`. Its parts begin with different
 * characters, so it takes linear time.
 */
const grammar =
  /^(?:GET|POST) \/[\w\-.~!$&'()*+,;=:@%/?]* HTTP\/1\.1\r\n(?:[\w!#$%&'*+\-.^`|~]+:[\x20-\x7e]*\r\n)*$/;

/** The same, cut off in a field; what of a first line has come, when no more has. */
const cutInFields =
  /^(?:GET|POST) \/[\w\-.~!$&'()*+,;=:@%/?]* HTTP\/1\.1\r\n(?:[\w!#$%&'*+\-.^`|~]+:[\x20-\x7e]*\r\n)*(?:[\w!#$%&'*+\-.^`|~]+(?::[\x20-\x7e]*\r?)?|\r)?$/;
const cutInFirstLine = /^(?:GET|POST) (?:\/[\w\-.~!$&'()*+,;=:@%/?]*)?(.*)$/s;

/** In 15 digits without a leading zero, every number is exact and means the same to everybody. */
const lengthGrammar = /^(?:0|[1-9]\d{0,14})$/;

/** The head of a request of the plain lane. */
export interface RequestHead {
  readonly method: 'GET' | 'POST';
  /** Path and query, as they came. */
  readonly target: string;
  /** Bytes of the body; -1 when it comes in chunks. */
  readonly bodyLength: number;
  /** True when the caller wants to use the connection again. */
  readonly keepsAlive: boolean;
  /** True when the caller has named the call, so that it is not made twice. */
  readonly isNamed: boolean;
  /** Names in lower case, each once; `values` has theirs at the same places. */
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/**
 * Reads a head, its last line's end included and the empty line not. Null: it is no such head, or it says something that
 * `node:http` must judge: a length in doubt, an upgrade, an expectation, a name given twice.
 */
export function readRequestHead(text: string): RequestHead | null {
  if (!grammar.test(text)) return null;
  const method = text.charCodeAt(0) === letterG ? 'GET' : 'POST';
  const targetStart = method.length + 1;
  const targetEnd = text.indexOf(' ', targetStart);
  const names: string[] = [];
  const values: string[] = [];
  const framing = new Framing();
  for (let at = targetEnd + versionLength; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    const name = text.slice(at, colon).toLowerCase();
    const value = trimmed(text, colon + 1, end);
    at = end + 2;
    if (names.length === fieldsMax || names.includes(name) || !framing.admits(name, value)) return null;
    names.push(name);
    values.push(value);
  }
  if (framing.isChunked && framing.length !== -1) return null;
  const bodyLength = framing.isChunked ? -1 : Math.max(0, framing.length);
  return {
    method,
    target: text.slice(targetStart, targetEnd),
    bodyLength,
    keepsAlive: framing.keepsAlive,
    isNamed: framing.isNamed,
    names,
    values,
  };
}

const letterG = 0x47;
/** A space, `HTTP/1.1` and a line's end. */
const versionLength = 11;

/** Reads from the fields of a head how its body is framed, if its connection stays, and if the call has a name. */
class Framing {
  length = -1;
  isChunked = false;
  keepsAlive = true;
  isNamed = false;

  /** Notes what a field means; false when not every parser takes it alike. */
  admits(name: string, value: string): boolean {
    switch (name) {
      case 'content-length':
        if (!lengthGrammar.test(value)) return false;
        this.length = Number(value);
        return true;
      case 'transfer-encoding':
        this.isChunked = true;
        return value === 'chunked';
      case 'connection':
        this.keepsAlive = value !== 'close';
        return value === 'close' || /^keep-alive$/i.test(value);
      case 'idempotency-key':
        this.isNamed = true;
        return true;
      case 'expect':
      case 'upgrade':
      case 'http2-settings':
      case 'proxy-connection':
        return false;
      default:
        return true;
    }
  }
}

/** True when bytes without an empty line are the beginning of a head that could be read here, as far as can be seen. */
export function isHeadBeginning(text: string): boolean {
  const lineStart = text.lastIndexOf('\n') + 1;
  if (lineStart === 0) return isFirstLineBeginning(text);
  if (!cutInFields.test(text)) return false;
  const hasValue = text.includes(':', lineStart);
  return readRequestHead(hasValue ? `${text.trimEnd()}\r\n` : text.slice(0, lineStart)) !== null;
}

function isFirstLineBeginning(text: string): boolean {
  const version = cutInFirstLine.exec(text)?.[1];
  if (version !== undefined) return ' HTTP/1.1\r'.startsWith(version);
  return 'GET '.startsWith(text) || 'POST '.startsWith(text);
}

/** True when bytes that a caller sends ahead of its turn look like requests at all, judged by their first word. */
export function looksLikeRequest(text: string): boolean {
  return /^[\r\n]*(?:[A-Z][A-Z-]*(?: |$)|$)/.test(text);
}

/** A field of the head by its name in lower case. */
export function fieldOf({ names, values }: RequestHead, wanted: string): string | undefined {
  const place = names.indexOf(wanted);
  return place === -1 ? undefined : values[place];
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
