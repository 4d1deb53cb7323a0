import type { IncomingMessage } from 'node:http';
import { Ahead } from './ahead.ts';
import { type Inlet, type InletOwner, readBytesMax } from './inlet.ts';
import { forgottenBytesMax, Lingering, type LingeringParts } from './lingering.ts';
import { isWornOut, refusalsAfter } from './refusals.ts';
import type { Rounds } from './rounds.ts';

/** Requests of one connection that `node:http` may have begun and not answered. */
const outstandingMax = 4;
const lineEnd = Buffer.from('\r\n');
const lineFeed = 0x0a;
/** Lines of a head, or of a body in chunks, that it is given at a time: each chunk is work, however small. */
const linesMax = 64;

/**
 * Hands a connection's bytes to `node:http`, which begins every request that it finds in them, however many: so it is
 * given the end of one head at a time, the next in a later turn of the event loop, and none while some wait for answers.
 * It is held back between two requests only: one that has begun has a time by which it must have come whole.
 */
export class NodeFeed implements InletOwner {
  readonly #inlet: Inlet;
  readonly #parts: LingeringParts;
  readonly #ahead: Ahead;
  #outstanding = 0;
  /** The last request that was begun. */
  #last: IncomingMessage | null = null;
  /** Bytes of its body that may still come, told only where its head was the end of a piece. */
  #bodyBytesMax = 0;
  #refusals: number;

  /** `refusals` in a row have been carried by the connection before. */
  constructor(inlet: Inlet, parts: LingeringParts, refusals: number) {
    this.#inlet = inlet;
    this.#parts = parts;
    this.#ahead = new Ahead(inlet, () => this.#goOn());
    this.#refusals = refusals;
  }

  /** Begins, with what has been read before, once `node:http` has taken the socket. */
  begin(bytes: Buffer | null): void {
    const inlet = this.#inlet;
    const { socket } = inlet;
    inlet.giveTo(this);
    if (!inlet.isMoved) {
      if (bytes !== null) socket.unshift(bytes);
      socket.resume();
      return;
    }
    // Node's parser, which would read past every stream, gives its place back when somebody listens for bytes.
    socket.on('data', ignore).on('resume', () => this.#goOn());
    inlet.resume();
    if (bytes !== null) this.onBytes(bytes);
  }

  room(): null {
    return null;
  }

  onBytes(bytes: Buffer): void {
    const ahead = this.#ahead;
    ahead.keep(bytes);
    if (ahead.awaitsRound || this.#refusals > 0) ahead.awaitRound(this.#row);
    else this.#feed();
    if (this.#isForgetting || bytes.length >= readBytesMax) ahead.rest(this.#row);
  }

  /** All that was begun has been answered, and the body of the last one still comes. */
  get #isForgetting(): boolean {
    return this.#outstanding === 0 && this.#last?.complete === false;
  }

  /** The row it waits in. */
  get #row(): Rounds {
    return this.#isForgetting ? this.#parts.forgetting : this.#parts.rounds;
  }

  requestBegun(request: IncomingMessage): void {
    this.#outstanding += 1;
    this.#last = request;
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    this.#bodyBytesMax = coding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY;
  }

  /** One has been answered, or will never be. */
  requestEnded(): void {
    this.#outstanding -= 1;
    this.#goOn();
  }

  /** Notes the status of an answer; false when the connection has carried too many refusals to stay open behind it. */
  keepsOpen(status: number, { complete, headers }: IncomingMessage): boolean {
    this.#refusals = refusalsAfter(this.#refusals, status);
    if (!isWornOut(this.#refusals)) return true;
    const announced = Number(headers['content-length'] ?? 0);
    if (complete || (announced === 0 && headers['transfer-encoding'] === undefined)) return false;
    // Too much of a body is still to come to be forgotten: cut off, its caller might not see the answer.
    if (announced > forgottenBytesMax || !this.#inlet.isMoved) return true;
    this.#lingerAtEnd();
    return false;
  }

  /** Node closes at once behind a last answer, and bytes of a body that nobody has read would be a reset. */
  #lingerAtEnd(): void {
    const { socket } = this.#inlet;
    socket.destroySoon = () => {
      this.#ahead.bytes = null;
      new Lingering(this.#inlet, this.#parts);
      socket.end();
    };
  }

  #goOn(): void {
    if (!this.#ahead.awaitsRound) this.#feed();
    this.#ahead.readOn();
  }

  #feed(): void {
    const { socket } = this.#inlet;
    const ahead = this.#ahead;
    const { bytes } = ahead;
    if (bytes === null || socket.destroyed) return;
    const end = socket.isPaused() ? 0 : this.#endOfPiece(bytes);
    if (end === 0) {
      if (ahead.isFull) this.#inlet.halt();
      return;
    }
    // Before the push, in which the next request may begin.
    this.#bodyBytesMax -= end;
    ahead.bytes = end === bytes.length ? null : bytes.subarray(end);
    if (ahead.bytes !== null) ahead.awaitRound(this.#row);
    socket.push(bytes.subarray(0, end));
  }

  /** 0 where it has begun as many as it may, and the last of them has come whole. */
  #endOfPiece(bytes: Buffer): number {
    const room = outstandingMax - this.#outstanding;
    if (room > 1) return endOfPiece(bytes, 2);
    // The head of the last one that may begin ends a piece, so that it is known where its body ends.
    const end = bytes[0] === lineFeed ? 1 : endOfPiece(bytes, 1);
    if (room > 0) return end;
    return this.#last?.complete === false ? Math.min(end, this.#bodyBytesMax) : 0;
  }
}

/** A piece is all there is, unless that has many lines, or so many empty ones, as heads and bodies in chunks end with. */
function endOfPiece(bytes: Buffer, emptyLinesMax: number): number {
  let emptyLines = 0;
  let pieceEnd = 0;
  let at = 0;
  for (let lines = 0; lines < linesMax; lines++) {
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return bytes.length;
    const isEmpty = end === at;
    at = end + lineEnd.length;
    if (!isEmpty) continue;
    emptyLines += 1;
    if (emptyLines === 1) pieceEnd = at;
    if (emptyLines === emptyLinesMax) return pieceEnd;
  }
  return at;
}

function ignore(): void {}
