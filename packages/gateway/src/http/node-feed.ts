import { Ahead } from './ahead.ts';
import { type Inlet, type InletOwner, readBytesMax } from './inlet.ts';
import { isWornOut, refusalsAfter } from './refusals.ts';
import type { Rounds } from './rounds.ts';

/** Requests of one connection that `node:http` may have begun and not answered. */
const outstandingMax = 4;
const lineEnd = Buffer.from('\r\n');
/** Lines of a head, or of a body in chunks, that it is given at a time: each chunk is work, however small. */
const linesMax = 64;

/**
 * Hands a connection's bytes to `node:http`, which begins every request that it finds in them, however many: so it is
 * given the end of one head at a time, the next in a later turn of the event loop, and none while some wait for answers.
 */
export class NodeFeed implements InletOwner {
  readonly #inlet: Inlet;
  readonly #ahead: Ahead;
  #outstanding = 0;
  #refusals: number;

  /** `refusals` in a row have been carried by the connection before. */
  constructor(inlet: Inlet, rounds: Rounds, refusals: number) {
    this.#inlet = inlet;
    this.#ahead = new Ahead(inlet, rounds, () => this.#goOn());
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
    if (ahead.awaitsRound || this.#refusals > 0) ahead.awaitRound();
    else this.#feed();
    if (bytes.length >= readBytesMax) ahead.rest();
  }

  requestBegun(): void {
    this.#outstanding += 1;
  }

  /** One has been answered, or will never be. */
  requestEnded(): void {
    this.#outstanding -= 1;
    this.#goOn();
  }

  /** Notes the status of an answer; false when the connection has carried too many refusals to stay open behind it. */
  keepsOpen(status: number): boolean {
    this.#refusals = refusalsAfter(this.#refusals, status);
    return !isWornOut(this.#refusals);
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
    if (this.#outstanding >= outstandingMax || socket.isPaused()) {
      if (ahead.isFull) this.#inlet.halt();
      return;
    }
    const end = endOfPiece(bytes);
    ahead.bytes = end === bytes.length ? null : bytes.subarray(end);
    if (ahead.bytes !== null) ahead.awaitRound();
    socket.push(bytes.subarray(0, end));
  }
}

/** A piece is all there is, unless that has many lines, or the ends of two heads. */
function endOfPiece(bytes: Buffer): number {
  let headEnd = -1;
  let at = 0;
  for (let lines = 0; lines < linesMax; lines++) {
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return bytes.length;
    const isEmpty = end === at;
    at = end + lineEnd.length;
    if (isEmpty && headEnd !== -1) return headEnd;
    if (isEmpty) headEnd = at;
  }
  return at;
}

function ignore(): void {}
