import { Buffer } from 'node:buffer';

export interface ReceivedRequest {
  readonly method: string;
  /** As sent, query included. */
  readonly target: string;
  /** Names in lower case; the values of a repeated header are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type ReadResult =
  | { readonly kind: 'more' }
  /** The head of a request that waits for `100 Continue` is here and its body is not. */
  | { readonly kind: 'expects-continue' }
  | { readonly kind: 'request'; readonly request: ReceivedRequest }
  | { readonly kind: 'malformed' };

interface Head {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

const headBytesMax = 65_536;
const bodyBytesMax = 268_435_456;
const more: ReadResult = { kind: 'more' };
const malformed: ReadResult = { kind: 'malformed' };

/** Reads HTTP/1.1 requests off a connection, one after the other. Lenient: it serves tests, not the internet. */
export class RequestReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: Head | null = null;
  /** Bytes of the buffer that must be there before looking again is worth it. */
  #neededBytes = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  read(): ReadResult {
    if (this.#bytes === 0 || this.#bytes < this.#neededBytes) return more;
    if (this.#head !== null) return this.#readBody(this.#head);
    const buffered = this.#buffered();
    const end = buffered.indexOf('\r\n\r\n');
    if (end < 0) return buffered.length > headBytesMax ? malformed : more;
    const head = parseHead(buffered.toString('latin1', 0, end));
    if (head === null) return malformed;
    this.#head = head;
    this.#keep(buffered.subarray(end + 4));
    const result = this.#readBody(head);
    return result === more && head.headers['expect'] === '100-continue'
      ? { kind: 'expects-continue' }
      : result;
  }

  #readBody(head: Head): ReadResult {
    if (head.headers['transfer-encoding'] !== undefined) return this.#readChunkedBody(head);
    const length = Number(head.headers['content-length'] ?? 0);
    if (!(length >= 0 && length <= bodyBytesMax)) return malformed;
    this.#neededBytes = length;
    if (this.#bytes < length) return more;
    const buffered = this.#buffered();
    return this.#finish(head, buffered.subarray(0, length), buffered.subarray(length));
  }

  #readChunkedBody(head: Head): ReadResult {
    const buffered = this.#buffered();
    const chunks: Buffer[] = [];
    for (let at = 0; ; ) {
      const lineEnd = buffered.indexOf('\r\n', at);
      if (lineEnd < 0) return buffered.length > bodyBytesMax ? malformed : more;
      const size = Number.parseInt(buffered.toString('latin1', at, lineEnd), 16);
      if (!(size >= 0)) return malformed;
      const start = lineEnd + 2;
      if (buffered.length < start + size + 2) return more;
      // Trailers are not expected from any client here; what follows the last chunk is one empty line.
      if (size === 0) return this.#finish(head, Buffer.concat(chunks), buffered.subarray(start + 2));
      chunks.push(buffered.subarray(start, start + size));
      at = start + size + 2;
    }
  }

  #finish(head: Head, body: Buffer, rest: Buffer): ReadResult {
    this.#head = null;
    this.#neededBytes = 0;
    this.#keep(rest);
    return { kind: 'request', request: { ...head, body } };
  }

  #buffered(): Buffer {
    const [only] = this.#chunks;
    const whole =
      this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [whole];
    return whole;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
  }
}

function parseHead(text: string): Head | null {
  const lines = text.split('\r\n');
  const [method, target, version] = (lines[0] ?? '').split(' ');
  if (method === undefined || target === undefined || version?.startsWith('HTTP/1.') !== true) return null;
  const headers = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const colon = line.indexOf(':');
    if (colon <= 0) return null;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return { method, target, headers: Object.fromEntries(headers) };
}
