import type { Socket } from 'node:net';
import { concatBytes, type Fault, fault, unreachable } from '@headgate/protocols';
import type { Guard } from '../ports/clock.ts';
import type { MemoryShare } from '../ports/data-plane.ts';
import { type BodyPlaces, type BodyTaker, gift, tooLarge } from './body.ts';
import { invalidHttp, lingerMs } from './errors.ts';
import type { Activity, Exchange, PortParts } from './exchange.ts';
import { Inlet, type InletOwner } from './inlet.ts';
import { BodyIntake } from './plain-body.ts';
import { type ExchangeHost, PlainExchange } from './plain-exchange.ts';
import { isHeadBeginning, looksLikeRequest, type RequestHead, readRequestHead } from './request-head.ts';

/** Everything that the connections of the plain lane share. */
export interface PlainLane extends PortParts {
  readonly bounds: {
    readonly headerBytesMax: number;
    readonly headersMs: number;
    readonly bodyMs: number;
    readonly idleMs: number;
  };
  readonly activity: Activity;
  readonly connections: Set<PlainConnection>;
  /** All its connections read into it. */
  readonly shared: Buffer;
  readonly places: BodyPlaces;
  lastLines(staysOpen: boolean): string;
  answer(exchange: Exchange): void;
  /** Gives the socket to `node:http` for the rest of its life. */
  handOver(socket: Socket): void;
  /** Says what is wrong where no request could be read, and closes. */
  refuse(socket: Socket, failure: Fault): void;
}

/** Pieces that a head may come in before `node:http` waits for the rest of it. */
const headPiecesMax = 8;
/** Bytes that a caller may send ahead of its turn before it is no longer read. */
const aheadBytesMax = 65_536;
const headEnd = Buffer.from('\r\n\r\n');

/** Enough to see how what a caller sends ahead begins. */
const firstWordBytes = 32;

type Phase =
  | 'head' // nothing, or a part of a head, has come
  | 'body' // its head is being answered while its body comes
  | 'answer' // the request has come whole
  | 'delivery' // its answer has been written, and the caller has not taken all of it
  | 'closing'; // what still comes is forgotten

/**
 * One connection of a caller as long as all its requests are plain. It reads one after the other, never the next before
 * the last is answered and taken, and gives itself up to `node:http` at the first byte that not every parser takes alike.
 * One number, moved as bytes arrive, is all its time-outs.
 */
export class PlainConnection implements ExchangeHost, InletOwner, Guard {
  readonly socket: Socket;
  expiresAt: number;
  index = -1;
  readonly #lane: PlainLane;
  readonly #inlet: Inlet;
  #phase: Phase = 'head';
  /** Bytes of a head that is not whole, or of requests whose turn has not come. Not in Node's pool: they may be there long. */
  #ahead: Buffer | null = null;
  #headPieces = 0;
  /** The request being answered; null when none is. */
  #exchange: PlainExchange | null = null;
  /** Its body, when that came with its head. */
  #body: Buffer | null = null;
  /** Its body, while that comes. */
  #intake: BodyIntake | null = null;
  /** Called when the answer has been taken, or is not waited for any more. */
  #afterDelivery: (() => void) | null = null;
  #staysOpen = true;
  #hasEnded = false;
  #isReading = false;
  /** True while an answer of it is counted as under way. */
  #isActive = false;

  constructor(accepted: Socket, lane: PlainLane) {
    this.#inlet = new Inlet(accepted, this, lane.shared);
    const { socket } = this.#inlet;
    this.socket = socket;
    this.#lane = lane;
    this.expiresAt = lane.clock.monotonic() + lane.bounds.headersMs;
    lane.watchdog.watch(this);
    lane.connections.add(this);
    socket.on('end', this.#onEnd).on('close', this.#onClose).on('error', ignore);
    socket.on('drain', this.#onDrain).on('timeout', this.#onTimeout);
  }

  lastLines(staysOpen: boolean): string {
    return this.#lane.lastLines(staysOpen);
  }

  takeBody(taker: BodyTaker, bytesMax: number, memory: MemoryShare): void {
    const body = this.#body;
    if (body === null) this.#intake?.give(taker, bytesMax, memory);
    else if (body.length > bytesMax) taker.onNoBody(tooLarge(bytesMax));
    else taker.onBody(body, gift);
  }

  afterDelivery(done: () => void): void {
    const before = this.#afterDelivery;
    if (this.#phase !== 'delivery') done();
    else if (before === null) this.#afterDelivery = done;
    else
      this.#afterDelivery = () => {
        before();
        done();
      };
  }

  onAnswered(staysOpen: boolean): void {
    this.#staysOpen = staysOpen;
    this.#exchange = null;
    if (this.#phase === 'answer') this.#deliver();
    // The rest of a body that nobody wants is read and forgotten, and the connection goes on behind it.
    else if (!staysOpen) this.#close();
  }

  /** A deadline has passed, or the process is about to end. */
  onExpire(): void {
    switch (this.#phase) {
      case 'head':
        if (this.#ahead === null) this.socket.destroySoon();
        else this.#refuse(fault('request_timeout'));
        break;
      case 'body':
        this.#breakOffBody(fault('request_timeout'));
        break;
      case 'answer':
        // A call has deadlines of its own.
        break;
      case 'delivery':
      case 'closing':
        this.socket.destroy();
        break;
      default:
        unreachable(this.#phase);
    }
  }

  /** Closes a connection that carries nothing. */
  closeIfIdle(): void {
    if (this.#phase === 'head' && this.#ahead === null) this.socket.destroySoon();
  }

  room(): Buffer | null {
    return this.#intake?.room() ?? null;
  }

  onBytes(bytes: Buffer): void {
    switch (this.#phase) {
      case 'head':
        this.#ahead = this.#ahead === null ? bytes : Buffer.from(concatBytes([this.#ahead, bytes]).buffer);
        this.#read();
        break;
      case 'body':
        this.#fill(bytes);
        break;
      case 'answer':
      case 'delivery':
        this.#keepAhead(bytes);
        break;
      case 'closing':
        break;
      default:
        unreachable(this.#phase);
    }
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    // A caller that closes its side has gone, as with `node:http`; an answer that is written to its end still leaves.
    if (this.#phase === 'body') this.#breakOffBody(invalidHttp());
    else if (this.#phase === 'head' && this.#ahead !== null) this.#refuse(invalidHttp());
    else this.socket.end();
  };

  readonly #onClose = (): void => {
    this.#leave();
    const exchange = this.#exchange;
    const taker = this.#intake?.taker ?? null;
    this.#endActivity();
    this.#phase = 'closing';
    this.#noteDelivery();
    this.#exchange = null;
    this.#intake = null;
    exchange?.onClose();
    if (exchange !== null) taker?.onNoBody(fault('request_timeout'));
  };

  readonly #onDrain = (): void => this.#exchange?.onDrain();

  /** An answer is not taken. */
  readonly #onTimeout = (): void => {
    this.socket.destroy();
  };

  /** Reads requests until one has to be waited for; a loop, since a caller may send a thousand in one packet. */
  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#phase === 'head' && this.#ahead !== null) {
      const bytes = this.#ahead;
      const end = bytes.indexOf(headEnd);
      if (end === -1) {
        this.#awaitHead(bytes);
        break;
      }
      this.#ahead = null;
      this.#headPieces = 0;
      const text = end > this.#lane.bounds.headerBytesMax ? '' : bytes.toString('latin1', 0, end + 2);
      const head = readRequestHead(text);
      if (head === null) this.#handOver(bytes);
      else this.#begin(head, text, bytes, end + headEnd.length);
    }
    this.#isReading = false;
  }

  #awaitHead(bytes: Buffer): void {
    const { clock, bounds } = this.#lane;
    this.#headPieces += 1;
    const isLong = bytes.length > bounds.headerBytesMax || this.#headPieces > headPiecesMax;
    if (isLong || !isHeadBeginning(bytes.toString('latin1'))) this.#handOver(bytes);
    else this.expiresAt = Math.min(this.expiresAt, clock.monotonic() + bounds.headersMs);
  }

  #begin(head: RequestHead, text: string, bytes: Buffer, at: number): void {
    const exchange = new PlainExchange(this, head);
    this.#exchange = exchange;
    this.#lane.activity.begin();
    this.#isActive = true;
    const end = at + head.bodyLength;
    if (head.bodyLength === -1 || bytes.length < end) {
      this.#phase = 'body';
      this.expiresAt = this.#lane.clock.monotonic() + this.#lane.bounds.bodyMs;
      this.#intake = new BodyIntake(head.bodyLength, text, this.#lane.places);
      this.#lane.answer(exchange);
      if (bytes.length > at) this.onBytes(bytes.subarray(at));
      return;
    }
    this.#phase = 'answer';
    this.expiresAt = Number.POSITIVE_INFINITY;
    this.#body = bytes.subarray(at, end);
    this.#lane.answer(exchange);
    this.#body = null;
    if (bytes.length > end) this.onBytes(bytes.subarray(end));
  }

  #fill(bytes: Buffer): void {
    const intake = this.#intake;
    if (intake === null) return;
    const end = intake.take(bytes);
    // A body that turned out too large has been answered, and perhaps closed upon, in between.
    if (this.#intake !== intake) return;
    if (intake.progress === 'odd') this.#beginAgain(intake, bytes.subarray(end));
    else if (intake.progress === 'whole') this.#completeBody(intake, bytes.subarray(end));
  }

  #completeBody(intake: BodyIntake, rest: Buffer): void {
    this.#intake = null;
    this.#phase = 'answer';
    this.expiresAt = Number.POSITIVE_INFINITY;
    if (this.#exchange === null) this.#deliver();
    else intake.complete();
    if (rest.length > 0) this.onBytes(rest);
  }

  /** The body cannot come whole any more. */
  #breakOffBody(failure: Fault): void {
    const exchange = this.#exchange;
    const taker = this.#intake?.taker ?? null;
    if (exchange === null || taker === null) {
      this.socket.destroy();
      return;
    }
    this.#intake = null;
    exchange.keepsAlive = false;
    taker.onNoBody(failure);
  }

  /** Its chunks are framed in a way that not everybody reads alike: the request begins again, before `node:http`. */
  #beginAgain(intake: BodyIntake, rest: Buffer): void {
    const exchange = this.#exchange;
    this.#intake = null;
    if (exchange === null) return this.#close();
    this.#exchange = null;
    exchange.dissolve();
    this.#endActivity();
    this.#handOver(Buffer.concat([intake.asReceived(), rest]));
  }

  /** Lets a caller go on only when it has taken its answer: what it does not read is not more than one answer. */
  #deliver(): void {
    const { socket } = this;
    if (socket.writableLength === 0) return this.#finish();
    const { clock, limits } = this.#lane;
    this.#phase = 'delivery';
    // An unsent answer stays in memory until it is taken: a caller who takes none of it, or only sips, is cut off.
    this.expiresAt = clock.monotonic() + limits.callMs;
    this.#watch();
    socket.setTimeout(limits.stallMs);
    socket.write('', 'latin1', () => {
      if (this.#phase !== 'delivery') return;
      socket.setTimeout(0);
      this.#finish();
    });
  }

  #finish(): void {
    const { clock, bounds } = this.#lane;
    this.#endActivity();
    this.#noteDelivery();
    if (!this.#staysOpen || this.#hasEnded || this.#lane.departure.isLeaving) return this.#close();
    this.#phase = 'head';
    this.expiresAt = clock.monotonic() + bounds.idleMs;
    if (this.socket.isPaused()) this.socket.resume();
    this.#read();
  }

  #noteDelivery(): void {
    const done = this.#afterDelivery;
    this.#afterDelivery = null;
    done?.();
  }

  #keepAhead(bytes: Buffer): void {
    if (this.#ahead === null && !looksLikeRequest(bytes.toString('latin1', 0, firstWordBytes)))
      return this.#rejectAhead();
    this.#ahead = this.#ahead === null ? bytes : Buffer.from(concatBytes([this.#ahead, bytes]).buffer);
    if (this.#ahead.length > aheadBytesMax) this.socket.pause();
  }

  /** The caller speaks no HTTP: whatever it is being told, it is cut off; behind a part of an answer, without a word. */
  #rejectAhead(): void {
    const exchange = this.#exchange;
    if (exchange === null || exchange.begun) {
      this.socket.destroy();
      return;
    }
    this.#exchange = null;
    this.#endActivity();
    exchange.onClose();
    this.#refuse(invalidHttp());
  }

  #refuse(failure: Fault): void {
    this.#phase = 'closing';
    this.#ahead = null;
    this.#leave();
    this.#lane.refuse(this.socket, failure);
  }

  /** Closing with bytes of the caller unread is a reset, and that can overtake the answer: they are read for a while. */
  #close(): void {
    this.#endActivity();
    this.#phase = 'closing';
    this.#ahead = null;
    this.#intake = null;
    this.expiresAt = this.#lane.clock.monotonic() + lingerMs;
    this.#watch();
    this.socket.resume();
    this.socket.end();
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#phase = 'closing';
    this.#ahead = null;
    this.#leave();
    this.#inlet.letGo();
    socket.off('end', this.#onEnd).off('close', this.#onClose).off('error', ignore);
    socket.off('drain', this.#onDrain).off('timeout', this.#onTimeout);
    socket.pause();
    socket.unshift(bytes);
    this.#lane.handOver(socket);
    socket.resume();
  }

  /** A deadline that has fired is not watched any more. */
  #watch(): void {
    if (this.index === -1) this.#lane.watchdog.watch(this);
  }

  #endActivity(): void {
    if (this.#isActive) this.#lane.activity.end();
    this.#isActive = false;
  }

  #leave(): void {
    this.#lane.watchdog.release(this);
    this.#lane.connections.delete(this);
  }
}

function ignore(): void {}
