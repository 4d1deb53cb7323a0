/** Whether a target has given nothing to anyone for a while. Times on a steady clock. */
export class Hang {
  #sinceMs: number | null = null;

  /** The call sent then has waited in vain for first content. */
  timedOut(startMs: number): void {
    this.#sinceMs = Math.min(this.#sinceMs ?? startMs, startMs);
  }

  /** The call sent then has begun to answer: nothing hangs that was sent as late. */
  began(startMs: number): void {
    if (this.#sinceMs !== null && startMs >= this.#sinceMs) this.#sinceMs = null;
  }

  /** How long the call sent then has waited on a target that hangs; 0 where none does. */
  waitedMs(startMs: number, nowMs: number): number {
    return this.#sinceMs === null ? 0 : nowMs - Math.max(this.#sinceMs, startMs);
  }
}
