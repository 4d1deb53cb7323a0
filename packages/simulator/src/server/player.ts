import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Ending } from '../timeline/frame.ts';
import type { Step, Transmission } from '../timeline/transmit.ts';
import type { Clock } from './clock.ts';

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
export class Player {
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
