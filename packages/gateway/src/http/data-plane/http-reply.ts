import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Platform } from '@headgate/protocols';
import type { CallerListener, HeaderList, Reply } from '../../ports/data-plane.ts';

/** Where each surface's SDKs look for the id of a call, beside `x-trace-id`. */
const traceHeaders = { completions: 'x-request-id', messages: 'request-id', native: null } as const;

/** Up to this size a chunk is written as one string; above it copying would cost more than a second write. */
const singleWriteBytesMax = 16_384;

/** How long a caller may take for an answer that is written to its end. */
export interface DeliveryLimits {
  /** Taking nothing of it. */
  readonly stallMs: number;
  /** Taking all of it. */
  readonly callMs: number;
}

/** A reply over one response of node:http. */
export class HttpReply implements Reply {
  readonly platform: Platform;
  gone = false;
  listener: CallerListener | null = null;
  readonly #response: ServerResponse;
  readonly #identity: HeaderList;
  /** Where chunks of a stream that has begun are written, framed by us (ADR 6). */
  #socket: Socket | null = null;
  #awaitsDrain = false;
  readonly #limits: DeliveryLimits;

  constructor(response: ServerResponse, platform: Platform, traceId: string, limits: DeliveryLimits) {
    this.#response = response;
    this.#limits = limits;
    this.platform = platform;
    this.#identity = identityHeaders(platform, traceId);
    response.on('close', () => this.#close());
  }

  get begun(): boolean {
    return this.#response.headersSent;
  }

  send(status: number, headers: HeaderList, body: Uint8Array): void {
    if (this.gone) return;
    this.#response.writeHead(status, [...this.#identity, ...headers, 'content-length', String(body.length)]);
    // A string joins the head in one write; a buffer takes two.
    if (body.length <= singleWriteBytesMax) this.#response.end(latin1(body), 'latin1');
    else this.#response.end(body);
    this.#limitDelivery();
  }

  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean {
    if (this.gone) return true;
    const response = this.#response;
    response.writeHead(status, [...this.#identity, ...headers]);
    // HTTP/1.0 has no chunks, and a connection that is let go of has no socket.
    const { socket } = response;
    if (socket === null || !response.chunkedEncoding) return this.#drained(response.write(bytes));
    this.#socket = socket;
    socket.cork();
    response.flushHeaders();
    const isWritable = this.write(bytes);
    socket.uncork();
    return isWritable;
  }

  write(bytes: Uint8Array): boolean {
    // A chunk of no bytes is HTTP's end of the body.
    if (this.gone || bytes.length === 0) return true;
    return this.#drained(
      this.#socket === null ? this.#response.write(bytes) : writeChunk(this.#socket, bytes),
    );
  }

  end(bytes: Uint8Array): void {
    if (this.gone) return;
    this.#response.end(bytes);
    this.#limitDelivery();
  }

  breakOff(bytes: Uint8Array): void {
    if (this.gone) return;
    this.write(bytes);
    // The chunk that would end the body is never written: whoever misses the error still sees that the answer is cut.
    const { socket } = this.#response;
    if (socket === null) this.#response.destroy();
    else socket.destroySoon();
    this.#limitDelivery();
  }

  abandon(): void {
    if (!this.gone) this.#response.destroy();
  }

  /** What was written stays in memory until it is taken: a caller who takes none of it, or only sips, is cut off. */
  #limitDelivery(): void {
    const response = this.#response;
    const { socket } = response;
    if (socket === null) {
      // Behind another answer on its connection; what was written follows its turn at once.
      response.once('socket', () => process.nextTick(() => this.#limitDelivery()));
      return;
    }
    if (socket.writableLength === 0) return;
    socket.setTimeout(this.#limits.stallMs);
    const patience = setTimeout(() => socket.destroy(), this.#limits.callMs);
    response.once('close', () => clearTimeout(patience));
    // Before Node's own listener, which sets the time-out of an idle connection or turns to the next answer on it.
    response.prependOnceListener('finish', () => socket.setTimeout(0));
  }

  /** Tells the listener when a write found the connection full. */
  #drained(isWritable: boolean): boolean {
    if (isWritable || this.#awaitsDrain) return isWritable;
    this.#awaitsDrain = true;
    // Whichever of the two was written to tells when it has room again.
    (this.#socket ?? this.#response).once('drain', () => {
      this.#awaitsDrain = false;
      this.listener?.onCallerWritable();
    });
    return false;
  }

  #close(): void {
    if (this.#response.writableFinished) return;
    this.gone = true;
    this.listener?.onCallerGone();
  }
}

/** The headers that name a call, on every answer. */
export function identityHeaders(platform: Platform, traceId: string): HeaderList {
  const alias = traceHeaders[platform];
  return alias === null ? ['x-trace-id', traceId] : ['x-trace-id', traceId, alias, traceId];
}

/** One chunk of a chunked body (RFC 9112 §7.1), in one write if it is small. */
function writeChunk(socket: Socket, bytes: Uint8Array): boolean {
  const size = bytes.length.toString(16);
  if (bytes.length <= singleWriteBytesMax) return socket.write(`${size}\r\n${latin1(bytes)}\r\n`, 'latin1');
  socket.cork();
  socket.write(`${size}\r\n`, 'latin1');
  socket.write(bytes);
  const isWritable = socket.write('\r\n', 'latin1');
  socket.uncork();
  return isWritable;
}

/** The bytes as a string of the same length, one character a byte. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
