import type { ServerResponse } from 'node:http';
import type { Platform } from '@headgate/protocols';
import type { HeaderList, Reply } from '../../ports/data-plane.ts';

/** Where each surface's SDKs look for the id of a call, beside `x-trace-id`. */
const traceHeaders = { completions: 'x-request-id', messages: 'request-id', native: null } as const;

/** Up to this size a chunk is written as one string; above it copying would cost more than a second write. */
const singleWriteBytesMax = 16_384;

/** A reply over one response of node:http. */
export class HttpReply implements Reply {
  readonly platform: Platform;
  gone = false;
  onWritable: (() => void) | null = null;
  onGone: (() => void) | null = null;
  readonly #response: ServerResponse;
  readonly #identity: HeaderList;

  constructor(response: ServerResponse, platform: Platform, traceId: string) {
    this.#response = response;
    this.platform = platform;
    const alias = traceHeaders[platform];
    this.#identity = alias === null ? ['x-trace-id', traceId] : ['x-trace-id', traceId, alias, traceId];
    response.on('close', () => this.#close());
  }

  send(status: number, headers: HeaderList, body: Uint8Array): void {
    if (this.gone) return;
    this.#response.writeHead(status, [...this.#identity, ...headers, 'content-length', String(body.length)]);
    // A string joins the head in one write; a buffer takes two.
    if (body.length <= singleWriteBytesMax) this.#response.end(latin1(body), 'latin1');
    else this.#response.end(body);
  }

  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean {
    if (this.gone) return true;
    this.#response.writeHead(status, [...this.#identity, ...headers]);
    return this.#drained(this.#response.write(bytes));
  }

  write(bytes: Uint8Array): boolean {
    if (this.gone) return true;
    const { socket, chunkedEncoding } = this.#response;
    if (socket === null || !chunkedEncoding || bytes.length > singleWriteBytesMax) {
      return this.#drained(this.#response.write(bytes));
    }
    // ServerResponse.write makes four writes of one chunk. Framing it here halves the cost of a frame (ADR 6).
    return this.#drained(socket.write(`${bytes.length.toString(16)}\r\n${latin1(bytes)}\r\n`, 'latin1'));
  }

  end(bytes: Uint8Array): void {
    if (!this.gone) this.#response.end(bytes);
  }

  breakOff(bytes: Uint8Array): void {
    if (this.gone) return;
    const { socket } = this.#response;
    // The chunk that would end the body is never written: whoever misses the error still sees that the answer is cut.
    this.#response.write(bytes, () => socket?.destroySoon());
  }

  /** Arranges for `onWritable` when a write found the connection full. */
  #drained(isWritable: boolean): boolean {
    if (!isWritable) this.#response.socket?.once('drain', () => this.onWritable?.());
    return isWritable;
  }

  #close(): void {
    if (this.#response.writableFinished) return;
    this.gone = true;
    this.onGone?.();
  }
}

/** The bytes as a string of the same length, one character a byte. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
