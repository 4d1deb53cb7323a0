import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Fault, fault, type Platform } from '@headgate/protocols';
import type { CallerListener, HeaderList, MemoryShare } from '../ports/data-plane.ts';
import { crowded } from '../route/faults.ts';
import { type BodyPlaces, type BodyTaker, GrowingBytes, tooLarge } from './body.ts';
import { type DeliveryLimits, type Exchange, joinedBytesMax, latin1, writeChunk } from './exchange.ts';
import type { NodeFeed } from './node-feed.ts';

/** An exchange over one request of `node:http`. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly isNamed: boolean;
  platform: Platform = 'completions';
  gone = false;
  listener: CallerListener | null = null;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #headers: HeaderList = [];
  /** The socket to which chunks of a stream that has begun are written, framed by us (ADR 6). */
  #socket: Socket | null = null;
  #awaitsDrain = false;
  readonly #limits: DeliveryLimits;
  readonly #places: BodyPlaces;
  readonly #feed: NodeFeed | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    limits: DeliveryLimits,
    places: BodyPlaces,
    feed: NodeFeed | undefined,
  ) {
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.#places = places;
    this.#feed = feed;
    this.method = request.method ?? 'GET';
    this.target = request.url ?? '/';
    this.isNamed = request.headers['idempotency-key'] !== undefined;
    response.on('close', () => this.#close());
  }

  get peer(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** The expectation that the caller wants to be told of before it sends its body. HTTP/1.0 cannot ask (RFC 9110 §10.1.1). */
  get expectation(): string | null {
    const { httpVersion, headers } = this.#request;
    return httpVersion === '1.0' ? null : (headers.expect?.trim().toLowerCase() ?? null);
  }

  address(platform: Platform, headers: HeaderList): void {
    this.platform = platform;
    this.#headers = headers;
  }

  addHeaders(headers: HeaderList): void {
    this.#headers = [...this.#headers, ...headers];
  }

  takeBody(taker: BodyTaker, bytesMax: number, memory: MemoryShare): void {
    const request = this.#request;
    if (this.expectation !== null) this.#response.writeContinue();
    const announced = Number(request.headers['content-length'] ?? 0);
    const bytes = new GrowingBytes(announced, bytesMax, this.#places, memory);
    const onData = (chunk: Buffer): void => {
      if (bytes.length + chunk.length > bytesMax) refuse(tooLarge(bytesMax));
      else if (!bytes.append(chunk)) refuse(crowded());
    };
    const onEnd = (): void => {
      leave();
      this.#atTurn(() => taker.onBody(bytes.all(), bytes), onClose);
    };
    const onClose = (): void => refuse(fault('request_timeout'));
    const leave = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    };
    const refuse = (failure: Fault): void => {
      leave();
      bytes.giveBack();
      // A caller who is still sending gets to see the answer, and the connection can carry another request.
      request.resume();
      taker.onNoBody(failure);
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    request.on('error', () => undefined);
  }

  get begun(): boolean {
    return this.#response.headersSent;
  }

  send(status: number, headers: HeaderList, body: Uint8Array): void {
    if (this.gone) return;
    const response = this.#response;
    const length = status === 204 ? [] : ['content-length', String(body.length)];
    this.#writeHead(status, [...this.#headers, ...headers, ...length]);
    // A string joins the head in one write; a buffer takes two.
    if (body.length <= joinedBytesMax) response.end(latin1(body), 'latin1');
    else response.end(body);
    this.#limitDelivery();
  }

  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean {
    if (this.gone) return true;
    const response = this.#response;
    this.#writeHead(status, [...this.#headers, ...headers]);
    // HTTP/1.0 has no chunks, and a connection that is let go of has no socket.
    const { socket } = response;
    if (socket === null || !response.chunkedEncoding)
      return this.#drained(response.write(new Uint8Array(bytes)));
    this.#socket = socket;
    socket.cork();
    response.flushHeaders();
    const isWritable = this.write(bytes);
    socket.uncork();
    return isWritable;
  }

  #writeHead(status: number, headers: readonly string[]): void {
    const response = this.#response;
    if (this.#feed?.keepsOpen(status, this.#request) === false) response.shouldKeepAlive = false;
    response.writeHead(status, [...headers]);
  }

  write(bytes: Uint8Array): boolean {
    if (this.gone || bytes.length === 0) return true;
    const socket = this.#socket;
    return this.#drained(
      socket === null ? this.#response.write(new Uint8Array(bytes)) : writeChunk(socket, '', bytes, ''),
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

  afterDelivery(done: () => void): void {
    const response = this.#response;
    if (response.closed || response.writableFinished) done();
    else response.once('close', done);
  }

  /** Behind another answer on its connection nothing could reach its caller until its turn, who may leave unheard. */
  #atTurn(act: () => void, giveUp: () => void): void {
    const response = this.#response;
    if (response.socket !== null) return act();
    const { socket } = this.#request;
    if (socket.destroyed) return giveUp();
    const onTurn = (): void => {
      socket.off('close', onGone);
      act();
    };
    const onGone = (): void => {
      response.off('socket', onTurn);
      giveUp();
    };
    response.once('socket', onTurn);
    socket.once('close', onGone);
  }

  /** An unsent answer stays in memory until it is taken: a caller who takes none of it, or only sips, is cut off. */
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
