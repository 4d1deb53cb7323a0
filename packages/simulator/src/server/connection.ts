import type { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Ending } from '../timeline/frame.ts';
import type { Transmission } from '../timeline/transmit.ts';
import type { Clock } from './clock.ts';
import { Player } from './player.ts';
import type { Recorded, RequestLog } from './request-log.ts';
import type { ReceivedRequest } from './request-reader.ts';
import { RequestReader } from './request-reader.ts';

export interface ConnectionParts {
  readonly clock: Clock;
  readonly log: RequestLog;
  readonly respond: (request: ReceivedRequest, sequence: number) => Transmission;
}

const malformedAnswer = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

/** One client's connection: requests are answered one at a time, in order. */
export class Connection {
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #reader = new RequestReader();
  #current: { readonly entry: Recorded; readonly startMs: number; readonly isLast: boolean } | null = null;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#reader.push(chunk);
      this.#readNext();
    });
    // Resets by clients are what this server is for; 'close' follows and tells the rest.
    socket.on('error', () => {});
    socket.on('end', () => this.#hangUp());
    socket.on('close', () => this.#hangUp());
  }

  get isIdle(): boolean {
    return this.#current === null;
  }

  /** Closes without a word: with RST, or with FIN. */
  close(how: 'reset' | 'end'): void {
    this.#finish('broken');
    if (how === 'reset') this.#socket.resetAndDestroy();
    else this.#socket.end();
  }

  #readNext(): void {
    // After a farewell of ours nothing is answered, whatever the client still sends.
    if (this.#current !== null || this.#socket.writableEnded) return;
    const read = this.#reader.read();
    switch (read.kind) {
      case 'more':
        return;
      case 'expects-continue':
        this.#socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        return;
      case 'malformed':
        this.#socket.end(malformedAnswer);
        return;
      case 'request':
        this.#answer(read.request);
        return;
    }
  }

  #answer(request: ReceivedRequest): void {
    const { clock, log, respond } = this.#parts;
    const entry = log.open(request);
    const startMs = clock.nowMs();
    this.#current = { entry, startMs, isLast: request.headers['connection'] === 'close' };
    new Player({
      socket: this.#socket,
      clock,
      startMs,
      transmission: respond(request, entry.sequence),
      onWrite: (bytes) => log.sent(entry, bytes),
      onEnd: (ending) => this.#end(ending),
    }).run();
  }

  #end(ending: Ending): void {
    const isLast = this.#current?.isLast === true;
    this.#finish(ending === 'end' ? 'answered' : 'broken');
    if (ending === 'reset') this.#reset();
    else if (ending === 'cut' || isLast) this.#socket.end();
    else this.#readNext();
  }

  /** RST throws away what the kernel has not been given yet, so the bytes before it go first. */
  #reset(): void {
    if (this.#socket.writableLength === 0) this.#socket.resetAndDestroy();
    else this.#socket.write('', () => this.#socket.resetAndDestroy());
  }

  #hangUp(): void {
    if (this.#current !== null) {
      this.#finish('client-gone', this.#parts.clock.nowMs() - this.#current.startMs);
    }
    this.#socket.destroy();
  }

  #finish(outcome: 'answered' | 'broken' | 'client-gone', clientGoneAfterMs: number | null = null): void {
    const current = this.#current;
    this.#current = null;
    if (current !== null) this.#parts.log.close(current.entry, outcome, clientGoneAfterMs);
  }
}
