import type { Socket } from 'node:net';
import type { UpstreamFailure } from '../ports/upstream-client.ts';
import { bodyLength } from './request-text.ts';
import type { ResponseHead } from './response-head.ts';
import { ResponseParser, type ResponseSink } from './response-parser.ts';
import type { SocketIntake } from './socket-intake.ts';

/** What a connection carries: the receiving side of one request. Exactly one of the last two is called, last. */
export interface Carried extends ResponseSink {
  onComplete(): void;
  /** `answerBegan`: whether a byte of the answer had come. */
  onLost(failure: UpstreamFailure, answerBegan: boolean): void;
}

/** Who keeps the connection while it carries nothing. */
export interface ConnectionKeeper {
  /** The answer came whole and the connection can carry another request. */
  onIdle(connection: Http1Connection, head: ResponseHead): void;
  /** The connection is not to be used any more; called once. */
  onGone(connection: Http1Connection): void;
}

/** Up to this size head and body are copied together, so that they leave in one packet and one system call. */
const joinedBytesMax = 16_384;

/** One connection to an upstream. Carries one request at a time. */
export class Http1Connection {
  /** Moment the keeper should let go of it; the keeper's to set. */
  expiresAt = Number.POSITIVE_INFINITY;
  readonly openedAt: number;
  readonly #socket: Socket;
  readonly #intake: SocketIntake;
  readonly #keeper: ConnectionKeeper;
  #carried: Carried | null = null;
  #parser: ResponseParser | null = null;
  #answerBegan = false;
  #isKept = true;
  #closeReason = 'the connection was closed';

  /** @param intake what the socket was opened with. */
  constructor(socket: Socket, intake: SocketIntake, keeper: ConnectionKeeper, openedAt: number) {
    this.#socket = socket;
    this.#intake = intake;
    this.#keeper = keeper;
    this.openedAt = openedAt;
    intake.receive = (bytes) => this.#read(bytes);
    socket.on('end', () => this.#endOfInput());
    socket.on('error', (error) => {
      this.#closeReason = error.message;
    });
    socket.on('close', () => this.#lose({ kind: 'reset', detail: this.#closeReason }));
    // Nothing is read from the stream itself, but its end shows only while it flows.
    socket.resume();
  }

  /** Whether it can be used: false as soon as its end is known. */
  get isUsable(): boolean {
    return this.#socket.writable && this.#socket.readable;
  }

  carry(carried: Carried, head: string, body: readonly Uint8Array[]): void {
    this.#carried = carried;
    this.#parser = new ResponseParser(carried);
    this.#answerBegan = false;
    this.#write(head, body);
  }

  pause(): void {
    this.#intake.isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#intake.isPaused = false;
    this.#socket.resume();
  }

  /** Closes at once. What it carries hears nothing of it. */
  destroy(): void {
    this.#carried = null;
    this.#parser = null;
    this.#socket.destroy();
    if (this.#isKept) this.#keeper.onGone(this);
    this.#isKept = false;
  }

  /** Closes at once. What it carries is lost for this reason. */
  shut(failure: UpstreamFailure): void {
    this.#lose(failure);
  }

  #write(head: string, body: readonly Uint8Array[]): void {
    if (head.length + bodyLength(body) <= joinedBytesMax) {
      this.#socket.write(joined(head, body));
      return;
    }
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    for (const piece of body) this.#socket.write(piece);
    this.#socket.uncork();
  }

  #read(bytes: Buffer): void {
    const parser = this.#parser;
    // Bytes nobody asked for: whatever they are, the connection is out of step.
    if (parser === null) {
      this.destroy();
      return;
    }
    this.#answerBegan = true;
    const progress = parser.read(bytes);
    const wasLetGo = this.#parser !== parser;
    if (wasLetGo || progress === 'more') return;
    if (progress === 'complete') this.#complete(parser);
    else this.#lose({ kind: 'garbled', detail: parser.problem });
  }

  #complete({ head, hasSurplus }: ResponseParser): void {
    const carried = this.#carried;
    // An answer may come before the request is written to its end (413): the rest of it would be read as the next one.
    const isInStep = !hasSurplus && this.#socket.writableLength === 0 && this.isUsable;
    this.#carried = null;
    this.#parser = null;
    if (this.#intake.isPaused) this.resume();
    if (head?.keepsAlive && isInStep) this.#keeper.onIdle(this, head);
    else this.destroy();
    carried?.onComplete();
  }

  #endOfInput(): void {
    const parser = this.#parser;
    if (parser === null) this.destroy();
    else if (parser.endsWithConnection()) this.#complete(parser);
    else if (this.#answerBegan) this.#lose({ kind: 'garbled', detail: 'the answer was cut off' });
    else this.#lose({ kind: 'reset', detail: 'closed before the answer began' });
  }

  #lose(failure: UpstreamFailure): void {
    const carried = this.#carried;
    this.destroy();
    carried?.onLost(failure, this.#answerBegan);
  }
}

function joined(head: string, body: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + bodyLength(body));
  let at = bytes.write(head, 'latin1');
  for (const piece of body) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
