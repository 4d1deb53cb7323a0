import { connect, type Socket } from 'node:net';
import { AnswerReader, type SeenAnswer } from './answer-reader.ts';
import type { Surface } from './surface.ts';

/** One call as its caller saw it. Times in milliseconds since the request was sent. */
export interface TimedAnswer extends SeenAnswer {
  readonly firstContentMs: number | null;
  readonly durationMs: number;
}

/** Callers with kept-alive connections: one call at a time on each, and as many connections as there are calls. */
export class CallerPool {
  readonly #port: number;
  readonly #idle: Socket[] = [];
  readonly #busy = new Set<Socket>();

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request and follows its answer to its end, or to the end of the connection. Never rejects. */
  call(surface: Surface, request: Buffer): Promise<TimedAnswer> {
    const { promise, resolve } = Promise.withResolvers<TimedAnswer>();
    const socket = this.#idle.pop() ?? connect({ host: '127.0.0.1', port: this.#port, noDelay: true });
    const reader = new AnswerReader(surface);
    const sentAt = performance.now();
    let firstContentMs: number | null = null;
    const finish = () => {
      socket.removeAllListeners();
      this.#busy.delete(socket);
      if (reader.isWhole && socket.writable) this.#keep(socket);
      else socket.on('error', () => {}).destroy();
      resolve({ ...reader.seen(), firstContentMs, durationMs: performance.now() - sentAt });
    };
    socket.on('data', (chunk: Buffer) => {
      reader.read(chunk);
      if (reader.hasContent) firstContentMs ??= performance.now() - sentAt;
      if (reader.isWhole) finish();
    });
    // A reset is an end like any other: 'close' follows it.
    socket.on('error', () => {});
    socket.on('close', finish);
    this.#busy.add(socket);
    socket.write(request);
    return promise;
  }

  /** Hangs up on every call that still waits, and lets go of all connections. */
  close(): void {
    for (const socket of [...this.#busy, ...this.#idle]) socket.destroy();
  }

  /** A connection that the gateway closed is not used again. */
  #keep(socket: Socket): void {
    this.#idle.push(socket);
    const forget = () => {
      const place = this.#idle.indexOf(socket);
      if (place >= 0) this.#idle.splice(place, 1);
    };
    socket.on('error', forget).on('close', forget);
  }
}
