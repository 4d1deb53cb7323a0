import type { Guard } from '../ports/clock.ts';
import { lingerMs } from './errors.ts';
import type { Inlet, InletOwner } from './inlet.ts';
import type { PlainLane } from './plain-lane.ts';
import type { RoundTaker } from './rounds.ts';

/** Connections that close behind their last answers share these. */
export type LingeringParts = Pick<PlainLane, 'clock' | 'watchdog' | 'rounds' | 'forgetting' | 'waste'>;

/** Bytes that one read forgets. */
export const wasteBytes = 65_536;

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
  readonly #parts: LingeringParts;
  #forgottenBytes = 0;

  constructor(inlet: Inlet, parts: LingeringParts) {
    this.#inlet = inlet;
    this.#parts = parts;
    this.expiresAt = parts.clock.monotonic() + lingerMs;
    parts.watchdog.watch(this);
    inlet.socket.once('close', () => parts.watchdog.release(this));
    inlet.giveTo(this);
    inlet.resume();
  }

  room(): Buffer {
    return this.#parts.waste;
  }

  onBytes(bytes: Buffer): void {
    this.#forgottenBytes += bytes.length;
    if (this.#forgottenBytes > forgottenBytesMax) this.#inlet.socket.destroy();
    this.#inlet.halt();
    this.#parts.forgetting.wait(this);
  }

  onRound(): void {
    this.#inlet.resume();
  }

  onExpire(): void {
    this.#inlet.socket.destroy();
  }
}
