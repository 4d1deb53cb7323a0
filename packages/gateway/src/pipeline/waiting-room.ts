import type { Clock } from '../ports/clock.ts';
import type { Reply } from '../ports/data-plane.ts';
import { guard, type Watchdog } from './watchdog.ts';

/** How a wait ended: its time was over, or the caller had gone. */
export type WaitEnd = 'over' | 'gone';

/** Where calls wait until a channel may be asked. Each holds its request in memory, so there is room for so many only. */
export class WaitingRoom {
  readonly #watchdog: Watchdog;
  readonly #clock: Clock;
  readonly #callsMax: number;
  #calls = 0;

  constructor(watchdog: Watchdog, clock: Clock, callsMax: number) {
    this.#watchdog = watchdog;
    this.#clock = clock;
    this.#callsMax = callsMax;
  }

  get isFull(): boolean {
    return this.#calls >= this.#callsMax;
  }

  /** Ends at once when the caller hangs up, and no later than the process may wait. */
  wait(reply: Reply, waitMs: number): Promise<WaitEnd> {
    if (reply.gone) return Promise.resolve('gone');
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    const leave = (end: WaitEnd): void => {
      this.#calls--;
      this.#watchdog.release(watched);
      reply.listener = null;
      resolve(end);
    };
    const watched = guard(this.#clock.monotonic() + waitMs, () => leave('over'));
    this.#calls++;
    this.#watchdog.watch(watched);
    reply.listener = { onCallerGone: () => leave('gone'), onCallerWritable: () => {} };
    return promise;
  }
}
