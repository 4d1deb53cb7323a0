import type { Socket } from 'node:net';
import { fieldOf, type RequestHead, readRequestHead } from '../request-head.ts';
import { isOfStatus, type StatusAnswer, type StatusQuestion } from './status-answers.ts';

/** All connections of a port that are read by us share this. */
export interface StatusDoor {
  /** A connection that says nothing for so long is closed. */
  readonly idleMs: number;
  readonly isLeaving: boolean;
  /** Hands in the answer, now or later; false where there are too many who wait. */
  ask(question: StatusQuestion, done: (answer: StatusAnswer) => void): boolean;
  /** Gives it to the console for the rest of its life, with the bytes read so far. */
  handOver(socket: Socket, bytes: Buffer): void;
  readonly connections: Set<StatusConnection>;
}

/** Heads are shorter, and so is what anybody sends ahead. */
const bytesMax = 16 * 1024;
const headEnd = Buffer.from('\r\n\r\n');
const firstBytes = Buffer.from('GET /status');

/**
 * A connection of the console's port as long as it asks for nothing but the status page: each question has come whole, is read in one
 * piece and answered by one write. At the first byte of anything else it is the console's.
 */
export class StatusConnection {
  readonly #socket: Socket;
  readonly #door: StatusDoor;
  /** Bytes that have come ahead of their turn. */
  #ahead: Buffer | null = null;
  #isAsking = false;

  constructor(socket: Socket, door: StatusDoor) {
    this.#socket = socket;
    this.#door = door;
    door.connections.add(this);
    socket.setTimeout(door.idleMs);
    socket.on('data', this.#onBytes).on('timeout', this.#onTimeout).on('close', this.#onClose);
    socket.on('end', this.#onEnd).on('error', ignore).on('drain', this.#onDrain);
  }

  /** Ends it where nothing is being answered. */
  closeIfIdle(): void {
    if (!this.#isAsking) this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onBytes = (bytes: Buffer): void => {
    if (this.#isAsking || this.#socket.writableNeedDrain) this.#keep(bytes);
    else this.#read(bytes);
  };

  #keep(bytes: Buffer): void {
    this.#ahead = this.#ahead === null ? bytes : Buffer.concat([this.#ahead, bytes]);
    if (this.#ahead.length > bytesMax) this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    const end = bytes.subarray(0, firstBytes.length).equals(firstBytes) ? bytes.indexOf(headEnd) : -1;
    const head = end === -1 || end > bytesMax ? null : readRequestHead(bytes.toString('latin1', 0, end + 2));
    if (head === null || head.bodyLength !== 0 || !isOfStatus(head.target)) return this.#handOver(bytes);
    const next = end + headEnd.length;
    this.#ahead = next === bytes.length ? null : bytes.subarray(next);
    this.#isAsking = true;
    const isTaken = this.#door.ask(questionOf(head), (answer) => this.#answer(answer, head.keepsAlive));
    if (!isTaken) this.#socket.destroy();
  }

  #answer(answer: StatusAnswer, keepsAlive: boolean): void {
    this.#isAsking = false;
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (!keepsAlive || this.#door.isLeaving) return void socket.end(answer.lastBytes());
    socket.write(answer.bytes);
    if (this.#ahead !== null) setImmediate(this.#onDrain);
  }

  /** The next of several requests that came together has another turn of the event loop. */
  readonly #onDrain = (): void => {
    const bytes = this.#ahead;
    if (bytes === null || this.#isAsking || this.#socket.writableNeedDrain || this.#socket.destroyed) return;
    this.#ahead = null;
    this.#read(bytes);
  };

  readonly #onEnd = (): void => {
    if (!this.#isAsking) this.#socket.end();
  };

  readonly #onTimeout = (): void => void this.#socket.destroy();

  readonly #onClose = (): void => {
    this.#ahead = null;
    this.#door.connections.delete(this);
  };

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#door.connections.delete(this);
    socket.off('data', this.#onBytes).off('timeout', this.#onTimeout).off('close', this.#onClose);
    socket.off('end', this.#onEnd).off('error', ignore).off('drain', this.#onDrain);
    socket.setTimeout(0);
    this.#door.handOver(socket, bytes);
  }
}

function questionOf(head: RequestHead): StatusQuestion {
  const { method, target } = head;
  return { method, target, header: (name) => fieldOf(head, name) };
}

function ignore(): void {}
