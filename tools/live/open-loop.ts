/** How often it is looked at which calls are due, in milliseconds. */
const tickMs = 5;

/** Calls at a steady rate, whatever becomes of those before: what is late is sent at once, and none is left out. */
export class OpenLoop {
  /** The latest that a call was sent after its time, in milliseconds: how far this process fell behind. */
  worstLagMs = 0;
  readonly #send: (call: number) => void;
  readonly #callsPerSecond: number;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;

  /** `send` gets the number of the call, from 0. */
  constructor(callsPerSecond: number, send: (call: number) => void) {
    this.#callsPerSecond = callsPerSecond;
    this.#send = send;
    this.#timer = setInterval(() => this.#catchUp(), tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #catchUp(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    const due = Math.floor((elapsedMs * this.#callsPerSecond) / 1000);
    if (this.#sent < due)
      this.worstLagMs = Math.max(this.worstLagMs, elapsedMs - (this.#sent * 1000) / this.#callsPerSecond);
    while (this.#sent < due) this.#send(this.#sent++);
  }
}
