import type { Guard } from '../ports/clock.ts';
import { lingerMs } from './errors.ts';
import { type Inlet, type InletOwner, readBytesMax } from './inlet.ts';
import type { PlainLane } from './plain-lane.ts';
import type { RoundTaker } from './rounds.ts';

/** Bytes that a caller may still send behind its last answer, before its connection closes at once. */
export const forgottenBytesMax = 262_144;

/**
 * A connection that closes behind its last answer. Closing with bytes of the caller unread is a reset, and that can
 * overtake the answer: they are read and forgotten for a while.
 */
export class Lingering implements InletOwner, RoundTaker, Guard {
  readonly expiresAt: number;
  index = -1;
  readonly #inlet: Inlet;
  readonly #lane: PlainLane;
  #forgottenBytes = 0;

  constructor(inlet: Inlet, lane: PlainLane) {
    this.#inlet = inlet;
    this.#lane = lane;
    this.expiresAt = lane.clock.monotonic() + lingerMs;
    lane.watchdog.watch(this);
    inlet.socket.once('close', () => lane.watchdog.release(this));
    inlet.giveTo(this);
    inlet.resume();
  }

  room(): Buffer {
    return this.#lane.waste;
  }

  onBytes(bytes: Buffer): void {
    this.#forgottenBytes += bytes.length;
    if (this.#forgottenBytes > forgottenBytesMax) this.#inlet.socket.destroy();
    if (bytes.length < readBytesMax) return;
    this.#inlet.halt();
    this.#lane.rounds.wait(this);
  }

  onRound(): void {
    this.#inlet.resume();
  }

  onExpire(): void {
    this.#inlet.socket.destroy();
  }
}
