import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Ending, Step, Transmission } from '../timeline.ts';
import type { Clock } from './clock.ts';
import type { Recorded, RequestLog } from './request-log.ts';
import { type ReceivedRequest, RequestReader } from './request-reader.ts';

/** A port and the connections that came in through it; it can close and open again. */
export class Listener {
  readonly #parts: ConnectionParts;
  readonly #connections = new Set<Connection>();
  #server: Server | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** The port listened on; any free one for 0. Rejects when it is taken. */
  async open(port: number, host: string): Promise<number> {
    const server = createServer((socket) => {
      const connection = new Connection(socket, this.#parts);
      this.#connections.add(connection);
      socket.on('close', () => this.#connections.delete(connection));
    });
    server.listen({ port, host, backlog: 4_096 });
    await once(server, 'listening');
    this.#server = server;
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Connections are refused from here on, and the open ones reset. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = once(server, 'close');
    server.close();
    for (const connection of this.#connections) connection.close('reset');
    await closed;
  }

  closeIdle(): void {
    for (const connection of this.#connections) {
      if (connection.isIdle) connection.close('end');
    }
  }
}

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

/** Bytes gathered into one write, so that a long answer without pauses does not pile up in memory. */
const writeBytesMax = 65_536;

export interface Playing {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly transmission: Transmission;
  /** On the clock's scale; the transmission's times count from here. */
  readonly startMs: number;
  readonly onWrite: (bytes: number) => void;
  /** Called once, when every byte before the ending is handed to the kernel; not when the socket closes first. */
  readonly onEnd: (ending: Ending) => void;
}

/** Plays a transmission on a socket: each step at its time, steps due together in one write, waiting when it is slow. */
class Player {
  readonly #playing: Playing;
  #next: IteratorResult<Step, Ending>;

  constructor(playing: Playing) {
    this.#playing = playing;
    this.#next = playing.transmission.next();
  }

  run(): void {
    const { socket, transmission, startMs, clock } = this.#playing;
    const elapsedMs = clock.nowMs() - startMs;
    const due: Uint8Array[] = [];
    let dueBytes = 0;
    while (this.#next.done !== true && this.#next.value.atMs <= elapsedMs && dueBytes < writeBytesMax) {
      due.push(this.#next.value.bytes);
      dueBytes += this.#next.value.bytes.length;
      this.#next = transmission.next();
    }
    if (socket.destroyed) return;
    const isSlow = dueBytes > 0 && !this.#write(due, dueBytes);
    if (isSlow) socket.once('drain', () => this.run());
    else this.#goOn(elapsedMs);
  }

  #goOn(elapsedMs: number): void {
    const { clock, startMs, onEnd } = this.#playing;
    if (this.#next.done === true) {
      onEnd(this.#next.value);
      return;
    }
    const { atMs } = this.#next.value;
    if (atMs <= elapsedMs) this.run();
    else if (atMs !== Number.POSITIVE_INFINITY) clock.runAt(startMs + atMs, () => this.run());
  }

  #write(due: readonly Uint8Array[], dueBytes: number): boolean {
    this.#playing.onWrite(dueBytes);
    const [only] = due;
    return this.#playing.socket.write(
      due.length === 1 && only !== undefined ? only : Buffer.concat(due, dueBytes),
    );
  }
}
