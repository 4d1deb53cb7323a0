/** One that waits in vain may be an accident, and so may two. */
const callsMin = 3;

/** Whether somebody has given nothing to anyone for a while. Times on a steady clock. */
export class Hang {
  #sinceMs = Number.POSITIVE_INFINITY;
  #calls = 0;

  /** The call sent then has waited in vain for first content. */
  timedOut(startMs: number): void {
    this.#sinceMs = Math.min(this.#sinceMs, startMs);
    this.#calls++;
  }

  /** The call sent then has begun to answer: nothing hangs that was sent as late. */
  began(startMs: number): void {
    if (startMs < this.#sinceMs) return;
    this.#sinceMs = Number.POSITIVE_INFINITY;
    this.#calls = 0;
  }

  /** How long the call sent then has waited where others waited in vain; 0 where there is hope. */
  waitedMs(startMs: number, nowMs: number): number {
    return this.#calls < callsMin ? 0 : nowMs - Math.max(this.#sinceMs, startMs);
  }
}
