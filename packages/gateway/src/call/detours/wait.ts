import type { Clock, TimeOuts } from '../../ports/clock.ts';
import type { WaitingPlaces } from '../../ports/gateway.ts';
import type { CallProgress } from '../../route/progress.ts';
import type { Call } from '../request.ts';
import { guard } from '../watchdog.ts';

/** Tells if the call may be held for so long. A count is not waited for: it is made here where no upstream makes it. */
export function mayWait(call: Call, progress: CallProgress, waitMs: number): boolean {
  const { gateway, inbound, deadlineAt, isStopping } = call;
  if (inbound.work === 'count' || isStopping || gateway.waitingRoom.isFull) return false;
  return progress.mayWait(waitMs) && gateway.clock.monotonic() + waitMs < deadlineAt;
}

/** The room in which calls wait, each with a guard of its own. */
export class WaitingRoom implements WaitingPlaces {
  readonly #watchdog: TimeOuts;
  readonly #clock: Clock;
  readonly #callsMax: number;
  #calls = 0;

  constructor(watchdog: TimeOuts, clock: Clock, callsMax: number) {
    this.#watchdog = watchdog;
    this.#clock = clock;
    this.#callsMax = callsMax;
  }

  get isFull(): boolean {
    return this.#calls >= this.#callsMax;
  }

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
