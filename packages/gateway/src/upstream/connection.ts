import type { OnReadOpts, Socket } from 'node:net';
import type { UpstreamFailure } from '../ports/upstream.ts';
import { type ResponseHead, ResponseParser, type ResponseSink } from './parser.ts';

/** Receives what a connection carries for one request. Exactly one of the last two is called, last. */
export interface Carried extends ResponseSink {
  onComplete(): void;
  /** `answerBegan`: whether a byte of the answer had come. */
  onLost(failure: UpstreamFailure, answerBegan: boolean): void;
}

/** Who keeps the connection while it carries nothing. */
export interface ConnectionKeeper {
  /** The answer came whole and the connection can carry another request. */
  onIdle(connection: Connection, head: ResponseHead): void;
  /** The connection is not to be used any more; called once. */
  onGone(connection: Connection): void;
}

/** As much as one read from a socket brings at the most. */
const readBytesMax = 65_536;
/** Up to this size head and body are copied together, so that they leave in one packet and one system call. */
const joinedBytesMax = 16_384;
/** A longer body is written in pieces of this length, one in a turn of the event loop: the system would take megabytes at once. */
const sliceBytes = 1024 * 1024;

/**
 * Memory that all connections share, because each holds it only while one of its bytes is read or written: a fresh buffer
 * for every read would be most of the work when a stream's frame has 200 bytes.
 */
export class SharedBuffers {
  readonly read = Buffer.allocUnsafeSlow(readBytesMax);
  #joined = Buffer.allocUnsafeSlow(joinedBytesMax);

  /** Writes head and body at once. A socket that cannot take all of it now keeps the buffer, and there is another. */
  writeJoined(socket: Socket, head: string, body: readonly Uint8Array[], length: number): void {
    // TLS answers for a write later, so it would keep a whole buffer each time.
    const isSecure = 'encrypted' in socket;
    const bytes = isSecure ? Buffer.allocUnsafe(head.length + length) : this.#joined;
    let at = bytes.write(head, 0, 'latin1');
    for (const piece of body) {
      bytes.set(piece, at);
      at += piece.length;
    }
    socket.write(bytes.subarray(0, head.length + length));
    if (!isSecure && socket.writableLength > 0) this.#joined = Buffer.allocUnsafeSlow(joinedBytesMax);
  }
}

/** A stream under way, whose bytes may wait a little. */
export interface Gathered {
  /** Reads on, from where it was held. */
  readOn(): void;
}

/** Tells how much the loop has worked; given what it told before, how much since. */
type Utilisation = typeof performance.eventLoopUtilization;

const turnMs = 2;
/** A stream is held for so many turns. Frames of a model that is quick come 10 to 30 ms apart. */
const [turnsMin, turnsMax] = [12, 36];
/** The loop is looked at so often, but not for fewer reads than these: then it is not for streams that it is late. */
const lookMs = 50;
const readsPerLook = 256;
/** Shares of the time that the loop is at work: beyond these streams are held, and held longer. */
const [lateAbove, fullAbove] = [0.95, 0.99];
/** Below these they are held less long, and not at all. Gathering takes a third of the work away, which must not end it. */
const [easyBelow, idleBelow] = [0.93, 0.65];

/**
 * To read and write a frame takes two system calls, whatever its length. While the loop has more to do than time, a stream under way
 * is held after each read, and its frames come several at once. Who is not under way yet is not held: it would otherwise
 * wait behind every frame of all others. While the loop has time, nothing is held.
 */
export class Gathering {
  readonly #utilisation: Utilisation;
  /** By the turn that they are read on at. */
  readonly #held: Gathered[][] = Array.from({ length: turnsMax + 1 }, () => []);
  #turn = 0;
  /** How long a stream is held; 0 while none is. */
  #turns = 0;
  #timer: NodeJS.Timeout | null = null;
  #reads = 0;
  #lookedAt = performance.now();
  #seen: ReturnType<Utilisation>;

  constructor(utilisation: Utilisation) {
    this.#utilisation = utilisation;
    this.#seen = utilisation();
  }

  /** A stream has been read. True: it must not be read before it is told to read on. */
  holds(stream: Gathered): boolean {
    this.#reads += 1;
    if (this.#reads >= readsPerLook) this.#look();
    if (this.#turns === 0) return false;
    this.#held[(this.#turn + this.#turns) % this.#held.length]?.push(stream);
    return true;
  }

  #look(): void {
    const now = performance.now();
    const elapsedMs = now - this.#lookedAt;
    if (elapsedMs < lookMs) return;
    const share = this.#utilisation(this.#seen).utilization;
    // Few reads in a long time: what is known is of then rather than of now.
    const isOfStreams = this.#reads >= readsPerLook && elapsedMs < 4 * lookMs;
    this.#reads = 0;
    this.#lookedAt = now;
    this.#seen = this.#utilisation();
    this.#hold(nextTurns(this.#turns, isOfStreams ? share : 0));
  }

  #hold(turns: number): void {
    this.#turns = turns;
    if (turns > 0 && this.#timer === null) {
      this.#turn = Math.floor(performance.now() / turnMs);
      this.#timer = setInterval(() => this.#moveOn(), turnMs);
    } else if (turns === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
      for (let index = 0; index <= turnsMax; index++) this.#release(index);
    }
  }

  /** A timer that is late makes up for it. */
  #moveOn(): void {
    const turn = Math.floor(performance.now() / turnMs);
    const places = this.#held.length;
    for (let due = Math.max(this.#turn, turn - places) + 1; due <= turn; due++) this.#release(due % places);
    this.#turn = turn;
    this.#look();
  }

  #release(index: number): void {
    for (const stream of this.#held.splice(index, 1, [])[0] ?? []) stream.readOn();
  }
}

/** For how many turns streams are held from now on. */
function nextTurns(turns: number, share: number): number {
  if (turns === 0) return share > lateAbove ? turnsMin : 0;
  if (share < idleBelow) return 0;
  if (share > fullAbove) return Math.min(turns + 2, turnsMax);
  return share < easyBelow ? Math.max(turns - 2, turnsMin) : turns;
}

/** Takes a socket's bytes out of the buffer that all sockets read into, one after the other. */
export class Intake {
  /** Set before the first bytes can come. */
  connection: Connection | null = null;
  /** Reading stops after the read that is under way. */
  isPaused = false;
  /** An answer is under way whose bytes may wait to be read together. */
  mayWait = false;
  /** For the options of `net.connect`. */
  readonly onread: OnReadOpts;

  constructor({ read }: SharedBuffers, gathering: Pick<Gathering, 'holds'>) {
    this.onread = {
      buffer: read,
      callback: (length) => {
        const { connection } = this;
        connection?.read(read.subarray(0, length));
        if (this.isPaused) return false;
        return !(this.mayWait && connection !== null && gathering.holds(connection));
      },
    };
  }
}

/** One connection to an upstream. Carries one request at a time. */
export class Connection {
  /** Moment the keeper should let go of it; the keeper's to set. */
  expiresAt = Number.POSITIVE_INFINITY;
  readonly openedAt: number;
  readonly #socket: Socket;
  readonly #intake: Intake;
  readonly #buffers: SharedBuffers;
  readonly #keeper: ConnectionKeeper;
  readonly #parser: ResponseParser;
  #carried: Carried | null = null;
  /** A part of the request is still to be written. */
  #isWriting = false;
  #answerBegan = false;
  #isKept = true;
  #closeReason = 'the connection was closed';

  /** @param intake what the socket was opened with. */
  constructor(
    socket: Socket,
    intake: Intake,
    buffers: SharedBuffers,
    keeper: ConnectionKeeper,
    openedAt: number,
  ) {
    this.#socket = socket;
    this.#intake = intake;
    this.#buffers = buffers;
    this.#keeper = keeper;
    this.openedAt = openedAt;
    this.#parser = new ResponseParser(nobody);
    intake.connection = this;
    socket.on('end', () => this.#endOfInput());
    socket.on('error', (error) => {
      this.#closeReason = error.message;
    });
    socket.on('close', () => this.shut({ kind: 'reset', detail: this.#closeReason }));
    // Nothing is read from the stream itself, but its end shows only while it flows.
    socket.resume();
  }

  /** It can be used: false as soon as its end is known. */
  get isUsable(): boolean {
    return this.#socket.writable && this.#socket.readable;
  }

  /** The socket has taken all that was written. */
  get hasSent(): boolean {
    return !this.#isWriting && this.#socket.writableLength === 0;
  }

  /** `length`: bytes of the body's pieces together. */
  carry(carried: Carried, head: string, body: readonly Uint8Array[], length: number): void {
    this.#carried = carried;
    this.#parser.expect(carried);
    this.#answerBegan = false;
    const socket = this.#socket;
    if (head.length + length <= joinedBytesMax) {
      this.#buffers.writeJoined(socket, head, body, length);
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    if (length > sliceBytes) this.#writeNext(slicesOf(body));
    else for (const piece of body) socket.write(piece);
    socket.uncork();
  }

  #writeNext(slices: Iterator<Uint8Array, undefined>): void {
    const { value, done } = slices.next();
    this.#isWriting = done !== true;
    if (done === true) return;
    this.#socket.write(value, (error) => {
      if (error === null || error === undefined) setImmediate(() => this.#writeNext(slices));
    });
  }

  pause(): void {
    this.#intake.isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#intake.isPaused = false;
    this.#socket.resume();
  }

  gather(): void {
    this.#intake.mayWait = true;
  }

  readOn(): void {
    if (!this.#intake.isPaused) this.#socket.resume();
  }

  /** Closes at once. What it carries hears nothing of it. */
  destroy(): void {
    this.#carried = null;
    this.#intake.mayWait = false;
    this.#socket.destroy();
    if (this.#isKept) this.#keeper.onGone(this);
    this.#isKept = false;
  }

  /** Closes at once. What it carries is lost for this reason. */
  shut(failure: UpstreamFailure): void {
    const carried = this.#carried;
    this.destroy();
    carried?.onLost(failure, this.#answerBegan);
  }

  /** Takes the bytes that came, which are there only within this call. */
  read(bytes: Buffer): void {
    const carried = this.#carried;
    // Bytes nobody asked for: whatever they are, the connection is out of step.
    if (carried === null) {
      this.destroy();
      return;
    }
    this.#answerBegan = true;
    const progress = this.#parser.read(bytes);
    const wasLetGo = this.#carried !== carried;
    if (wasLetGo || progress === 'more') return;
    if (progress === 'complete') this.#complete();
    else this.shut({ kind: 'garbled', detail: this.#parser.problem });
  }

  #complete(): void {
    const carried = this.#carried;
    const { head, hasSurplus } = this.#parser;
    // An answer may come before the request is written to its end (413): the rest of it would be read as the next one.
    const isInStep = !hasSurplus && this.hasSent && this.isUsable;
    this.#carried = null;
    this.#intake.mayWait = false;
    if (this.#intake.isPaused) this.resume();
    if (head?.keepsAlive && isInStep) this.#keeper.onIdle(this, head);
    else this.destroy();
    carried?.onComplete();
  }

  #endOfInput(): void {
    if (this.#carried === null) this.destroy();
    else if (this.#parser.endsWithConnection()) this.#complete();
    else if (this.#answerBegan) this.shut({ kind: 'garbled', detail: 'the answer was cut off' });
    else this.shut({ kind: 'reset', detail: 'closed before the answer began' });
  }
}

/** For a parser that nothing is expected from. */
const nobody: ResponseSink = { onHead() {}, onData() {} };

function* slicesOf(body: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const piece of body)
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
}
