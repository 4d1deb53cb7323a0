import type { Socket } from 'node:net';
import { type Fault, fault, unreachable } from '@headgate/protocols';
import type { Guard } from '../ports/clock.ts';
import type { MemoryShare } from '../ports/data-plane.ts';
import { Ahead } from './ahead.ts';
import { type BodyTaker, gift, roomBytesMax, tooLarge } from './body.ts';
import { invalidHttp } from './errors.ts';
import { Inlet, type InletOwner, readBytesMax } from './inlet.ts';
import { forgottenBytesMax, Lingering } from './lingering.ts';
import { BodyIntake } from './plain-body.ts';
import { type ExchangeHost, PlainExchange } from './plain-exchange.ts';
import type { LaneConnection, PlainLane } from './plain-lane.ts';
import { isWornOut, refusalsAfter } from './refusals.ts';
import { isHeadBeginning, looksLikeRequest, type RequestHead, readRequestHead } from './request-head.ts';

/** Pieces that a head may come in before `node:http` waits for the rest of it. */
const headPiecesMax = 8;
const headEnd = Buffer.from('\r\n\r\n');

/** Enough to see how what a caller sends ahead begins. */
const firstWordBytes = 32;

type Phase =
  | 'head' // nothing, or a part of a head, has come
  | 'body' // its head is being answered while its body comes
  | 'answer' // the request has come whole
  | 'delivery' // its answer has been written, and the caller has not taken all of it
  | 'gone'; // closed, about to, or given to `node:http`

/**
 * One connection of a caller as long as all its requests are plain. It reads one after the other, never the next before
 * the last is answered and taken, and gives itself up to `node:http` at the first byte that not every parser takes alike.
 * One turn of the event loop answers one request of it. One number, moved as bytes arrive, is all its time-outs.
 */
export class PlainConnection implements LaneConnection, ExchangeHost, InletOwner, Guard {
  readonly socket: Socket;
  expiresAt: number;
  index = -1;
  readonly #lane: PlainLane;
  readonly #inlet: Inlet;
  #phase: Phase = 'head';
  readonly #ahead: Ahead;
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
  /** Refusals in a row that it has carried. */
  #refusals = 0;
  #isWornOut = false;
  /** True while an answer of it is counted as under way. */
  #isActive = false;

  constructor(accepted: Socket, lane: PlainLane) {
    this.#lane = lane;
    this.#inlet = new Inlet(accepted, this, lane.shared);
    const { socket } = this.#inlet;
    this.socket = socket;
    this.#ahead = new Ahead(this.#inlet, () => this.#goOn());
    this.expiresAt = lane.clock.monotonic() + lane.bounds.headersMs;
    lane.watchdog.watch(this);
    lane.connections.add(this);
    socket.on('end', this.#onEnd).on('close', this.#onClose).on('error', ignore);
    socket.on('drain', this.#onDrain).on('timeout', this.#onTimeout);
  }

  lastLines(status: number, staysOpen: boolean): string {
    if (status < 400) this.#refusals = 0;
    else this.#countRefusal(status);
    return this.#lane.lastLines(staysOpen && !this.#isWornOut);
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
    this.#staysOpen = staysOpen && !this.#isWornOut;
    this.#exchange = null;
    if (this.#phase === 'answer') this.#deliver();
    // The rest of a body that nobody wants is read and forgotten, and the connection goes on behind it.
    else if (this.#phase === 'body' && !this.#staysOpen) this.#close();
  }

  #countRefusal(status: number): void {
    this.#refusals = refusalsAfter(this.#refusals, status);
    // A long body that is still to come would be cut off, and its caller might not see the answer.
    this.#isWornOut = isWornOut(this.#refusals) && (this.#intake?.remaining ?? 0) <= forgottenBytesMax;
  }

  /** A deadline has passed, or the process is about to end. */
  onExpire(): void {
    switch (this.#phase) {
      case 'head':
        if (this.#ahead.bytes === null) this.socket.destroySoon();
        else this.#refuse(fault('request_timeout'));
        break;
      case 'body':
        this.#breakOffBody(fault('request_timeout'));
        break;
      case 'delivery':
        this.socket.destroy();
        break;
      case 'answer': // A call has deadlines of its own.
      case 'gone':
        break;
      default:
        unreachable(this.#phase);
    }
  }

  /** Closes a connection that carries nothing. */
  closeIfIdle(): void {
    if (this.#phase === 'head' && this.#ahead.bytes === null) this.socket.destroySoon();
  }

  room(): Buffer | null {
    return this.#intake?.room(this.#lane.waste) ?? null;
  }

  onBytes(bytes: Buffer): void {
    const ahead = this.#ahead;
    switch (this.#phase) {
      case 'head':
        if (ahead.bytes === null) ahead.bytes = bytes;
        else ahead.keep(bytes);
        if (this.#refusals > 0 || ahead.awaitsRound) ahead.awaitRound(this.#row);
        else this.#read();
        break;
      case 'body':
        if (ahead.bytes === null) this.#fill(bytes);
        else ahead.keep(bytes);
        break;
      case 'answer':
      case 'delivery':
        ahead.keep(bytes);
        this.#judgeAhead(bytes);
        break;
      case 'gone':
        break;
      default:
        unreachable(this.#phase);
    }
    const isFull = bytes.length === readBytesMax || bytes.length === roomBytesMax;
    if (this.#phase === 'gone') return;
    if (isFull || (this.#phase === 'body' && this.#exchange === null)) ahead.rest(this.#row);
  }

  /** The row it waits in: the rest of a body that nobody wants has no hurry. */
  get #row(): PlainLane['rounds'] {
    const { rounds, forgetting } = this.#lane;
    return this.#phase === 'body' && this.#exchange === null ? forgetting : rounds;
  }

  /** Another turn of the event loop has come. */
  #goOn(): void {
    const ahead = this.#ahead;
    const { bytes } = ahead;
    if (this.#phase === 'head') this.#read();
    else if (this.#phase === 'body' && bytes !== null) {
      ahead.bytes = null;
      this.#fill(bytes);
    }
    if (this.#phase !== 'gone') ahead.readOn();
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    // A caller that closes its side has gone, as with `node:http`; an answer that is written to its end still leaves.
    if (this.#phase === 'body') this.#breakOffBody(invalidHttp());
    else if (this.#phase !== 'head' || this.#ahead.bytes === null) this.socket.end();
    // A request that waits for its turn is not begun for a caller who has gone.
    else if (this.#ahead.awaitsRound) this.#close();
    else this.#refuse(invalidHttp());
  };

  readonly #onClose = (): void => {
    const exchange = this.#exchange;
    const taker = this.#intake?.taker ?? null;
    this.#giveUp();
    this.#lane.connections.delete(this);
    this.#noteDelivery();
    this.#exchange = null;
    exchange?.onClose();
    if (exchange !== null) taker?.onNoBody(fault('request_timeout'));
  };

  readonly #onDrain = (): void => this.#exchange?.onDrain();

  /** An answer is not taken. */
  readonly #onTimeout = (): void => void this.socket.destroy();

  /** Reads the next request, when its turn has come. */
  #read(): void {
    const { bytes, awaitsRound } = this.#ahead;
    if (bytes === null || awaitsRound) return;
    const end = bytes.indexOf(headEnd);
    if (end === -1) return this.#awaitHead(bytes);
    this.#ahead.bytes = null;
    this.#headPieces = 0;
    const text = end > this.#lane.bounds.headerBytesMax ? '' : bytes.toString('latin1', 0, end + 2);
    const head = readRequestHead(text);
    if (head === null) this.#handOver(bytes);
    else this.#begin(head, text, bytes, end + headEnd.length);
  }

  #awaitHead(bytes: Buffer): void {
    const { clock, bounds } = this.#lane;
    this.#headPieces += 1;
    const isLong = bytes.length > bounds.headerBytesMax || this.#headPieces > headPiecesMax;
    if (isLong || !isHeadBeginning(bytes.toString('latin1'))) return this.#handOver(bytes);
    this.expiresAt = Math.min(this.expiresAt, clock.monotonic() + bounds.headersMs);
    this.#inlet.resume();
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
    // Before the answer: what comes behind a request has its time in another turn of the event loop.
    if (bytes.length > end) this.#ahead.bytes = bytes.subarray(end);
    this.#lane.answer(exchange);
    this.#body = null;
    if (this.#ahead.bytes !== null) this.#judgeAhead(this.#ahead.bytes);
  }

  #fill(bytes: Buffer): void {
    const intake = this.#intake;
    if (intake === null) return;
    const end = intake.take(bytes);
    // A body that turned out too large has been answered, and perhaps closed upon, in between.
    if (this.#intake !== intake) return;
    if (intake.progress === 'odd') this.#beginAgain(intake, bytes.subarray(end));
    else if (intake.progress === 'whole') this.#completeBody(intake, bytes.subarray(end));
    else if (intake.progress === 'later') {
      this.#ahead.bytes = bytes.subarray(end);
      this.#ahead.rest(this.#row);
    }
  }

  #completeBody(intake: BodyIntake, rest: Buffer): void {
    this.#intake = null;
    this.#phase = 'answer';
    this.expiresAt = Number.POSITIVE_INFINITY;
    if (rest.length > 0) this.#ahead.bytes = rest;
    if (this.#exchange === null) this.#deliver();
    else intake.complete();
    if (this.#ahead.bytes !== null) this.#judgeAhead(this.#ahead.bytes);
  }

  /** The body cannot come whole any more. */
  #breakOffBody(failure: Fault): void {
    const exchange = this.#exchange;
    const taker = this.#intake?.taker ?? null;
    if (exchange === null || taker === null) return void this.socket.destroy();
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
    const { clock, limits, watchdog } = this.#lane;
    this.#phase = 'delivery';
    // An unsent answer stays in memory until it is taken: a caller who takes none of it, or only sips, is cut off.
    this.expiresAt = clock.monotonic() + limits.callMs;
    // A deadline that has fired is not watched any more.
    if (this.index === -1) watchdog.watch(this);
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
    if (this.#ahead.bytes !== null) this.#ahead.awaitRound(this.#row);
    else if (this.#inlet.isHalted) this.#ahead.readOn();
  }

  #noteDelivery(): void {
    const done = this.#afterDelivery;
    this.#afterDelivery = null;
    done?.();
  }

  /** Looks at bytes that came while an answer is under way. */
  #judgeAhead(bytes: Buffer): void {
    if (this.#phase !== 'answer' && this.#phase !== 'delivery') return;
    const isFirst = this.#ahead.bytes === bytes;
    if (isFirst && !looksLikeRequest(bytes.toString('latin1', 0, firstWordBytes))) this.#rejectAhead();
    else if (this.#ahead.isFull) this.#inlet.halt();
  }

  /** The caller speaks no HTTP: whatever it is being told, it is cut off; behind a part of an answer, without a word. */
  #rejectAhead(): void {
    const exchange = this.#exchange;
    if (exchange === null || exchange.begun) return void this.socket.destroy();
    this.#exchange = null;
    exchange.onClose();
    this.#refuse(invalidHttp());
  }

  #refuse(failure: Fault): void {
    this.#linger();
    this.#lane.refuse(this.socket, failure);
  }

  /** Ends it behind its last answer. */
  #close(): void {
    this.#linger();
    this.socket.end();
  }

  #linger(): void {
    this.#giveUp();
    new Lingering(this.#inlet, this.#lane);
  }

  /** Takes no more requests. */
  #giveUp(): void {
    this.#endActivity();
    this.#phase = 'gone';
    this.#ahead.bytes = null;
    this.#intake = null;
    this.#lane.watchdog.release(this);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#giveUp();
    this.#lane.connections.delete(this);
    socket.off('end', this.#onEnd).off('close', this.#onClose).off('error', ignore);
    socket.off('drain', this.#onDrain).off('timeout', this.#onTimeout);
    this.#lane.handOver(this.#inlet, bytes, this.#refusals);
  }

  #endActivity(): void {
    if (this.#isActive) this.#lane.activity.end();
    this.#isActive = false;
  }
}

function ignore(): void {}
