import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Platform } from '@headgate/protocols';
import type { CallerListener, HeaderList, MemoryShare } from '../ports/data-plane.ts';
import type { BodyTaker } from './body.ts';
import { type Exchange, joinedBytesMax, latin1, writeChunk } from './exchange.ts';
import { fieldOf, type RequestHead } from './request-head.ts';

/** The connection that an exchange of the plain lane belongs to. */
export interface ExchangeHost {
  readonly socket: Socket;
  /** Lines that the head of an answer ends with, told by its status and whether the connection may stay open behind it. */
  lastLines(status: number, staysOpen: boolean): string;
  takeBody(taker: BodyTaker, bytesMax: number, memory: MemoryShare): void;
  afterDelivery(done: () => void): void;
  /** The answer has been written to its end. */
  onAnswered(staysOpen: boolean): void;
}

const statusLines: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, words]) => [Number(status), `HTTP/1.1 ${status} ${words}\r\n`]),
);

/** An exchange over one request that was read from its socket by ourselves. */
export class PlainExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly isNamed: boolean;
  platform: Platform = 'completions';
  gone = false;
  begun = false;
  listener: CallerListener | null = null;
  /** True when the connection may carry another request behind this answer. */
  keepsAlive: boolean;
  readonly #host: ExchangeHost;
  readonly #head: RequestHead;
  #headers: HeaderList = [];
  #isOver = false;

  constructor(host: ExchangeHost, head: RequestHead) {
    this.#host = host;
    this.#head = head;
    this.method = head.method;
    this.target = head.target;
    this.isNamed = head.isNamed;
    this.keepsAlive = head.keepsAlive;
  }

  get peer(): string | undefined {
    return this.#host.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    return fieldOf(this.#head, name);
  }

  address(platform: Platform, headers: HeaderList): void {
    this.platform = platform;
    this.#headers = headers;
  }

  addHeaders(headers: HeaderList): void {
    this.#headers = [...this.#headers, ...headers];
  }

  takeBody(taker: BodyTaker, bytesMax: number, memory: MemoryShare): void {
    this.#host.takeBody(taker, bytesMax, memory);
  }

  afterDelivery(done: () => void): void {
    this.#host.afterDelivery(done);
  }

  send(status: number, headers: HeaderList, body: Uint8Array): void {
    if (this.#isMute) return;
    const { socket } = this.#host;
    const head = `${this.#headText(status, headers)}content-length: ${body.length}\r\n\r\n`;
    if (body.length <= joinedBytesMax) socket.write(head + latin1(body), 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    this.#over();
  }

  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean {
    if (this.#isMute) return true;
    const head = `${this.#headText(status, headers)}transfer-encoding: chunked\r\n\r\n`;
    return writeChunk(this.#host.socket, head, bytes, '');
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isMute || bytes.length === 0) return true;
    return writeChunk(this.#host.socket, '', bytes, '');
  }

  end(bytes: Uint8Array): void {
    if (this.#isMute) return;
    writeChunk(this.#host.socket, '', bytes, '0\r\n\r\n');
    this.#over();
  }

  breakOff(bytes: Uint8Array): void {
    if (this.#isMute) return;
    this.write(bytes);
    // The chunk that would end the body is never written: whoever misses the error still sees that the answer is cut.
    this.keepsAlive = false;
    this.#over();
  }

  abandon(): void {
    if (!this.#isMute) this.#host.socket.destroy();
  }

  /** The connection has room again. */
  onDrain(): void {
    if (!this.#isOver) this.listener?.onCallerWritable();
  }

  /** The connection has closed. */
  onClose(): void {
    if (this.#isMute) return;
    this.gone = true;
    this.listener?.onCallerGone();
  }

  /** Lets go of a request that another parser reads again: nothing is said to its caller from here. */
  dissolve(): void {
    this.#isOver = true;
  }

  get #isMute(): boolean {
    return this.gone || this.#isOver;
  }

  #headText(status: number, headers: HeaderList): string {
    this.begun = true;
    const own = this.#headers;
    let text = statusLines.get(status) ?? `HTTP/1.1 ${status} \r\n`;
    for (let at = 0; at < own.length; at += 2) text += `${own[at]}: ${own[at + 1]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
    return text + this.#host.lastLines(status, this.keepsAlive);
  }

  #over(): void {
    this.#isOver = true;
    this.#host.onAnswered(this.keepsAlive);
  }
}
