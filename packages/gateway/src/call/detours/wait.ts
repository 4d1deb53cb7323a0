import type { Clock } from '../../ports/clock.ts';
import { guard, type Watchdog } from '../watchdog.ts';

/** Calls wait here until a channel may be asked. Each holds its request in memory, so their number has a bound. */
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

  /**
   * Calls back when the time is over, and no later than the process may wait; `over` never throws.
   * @returns leaves before that: then `over` is not called.
   */
  wait(waitMs: number, over: () => void): () => void {
    const leave = (): void => {
      this.#calls--;
      this.#watchdog.release(watched);
    };
    const watched = guard(this.#clock.monotonic() + waitMs, () => {
      leave();
      over();
    });
    this.#calls++;
    this.#watchdog.watch(watched);
    return leave;
  }
}
