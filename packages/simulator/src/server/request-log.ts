/** `open` until the answer's last byte is out; `broken` when the simulator itself cut it off. */
export type RequestOutcome = 'open' | 'answered' | 'broken' | 'client-gone';

/** One request as it arrived and what became of it. */
export interface SimulatedRequest {
  /** Counts the requests of this simulator from 1. */
  readonly sequence: number;
  readonly method: string;
  /** As sent, query included. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly outcome: RequestOutcome;
  /** Bytes of the answer handed to the kernel so far, the head included. */
  readonly sentBytes: number;
  /** From the request's last byte to the client's hanging up; null when it did not. */
  readonly clientGoneAfterMs: number | null;
}

export type Recorded = { -readonly [Key in keyof SimulatedRequest]: SimulatedRequest[Key] };

interface Waiter {
  readonly matches: (request: SimulatedRequest) => boolean;
  readonly resolve: (request: SimulatedRequest) => void;
}

/** The latest requests, oldest first. */
export class RequestLog {
  readonly entries: Recorded[] = [];
  readonly #capacity: number;
  #waiters: Waiter[] = [];
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Requests ever received, those no longer kept included. */
  get count(): number {
    return this.#count;
  }

  open(request: Pick<SimulatedRequest, 'method' | 'target' | 'headers' | 'body'>): Recorded {
    this.#count++;
    const { method, target, headers, body } = request;
    const entry: Recorded = {
      sequence: this.#count,
      method,
      target,
      headers,
      body,
      outcome: 'open',
      sentBytes: 0,
      clientGoneAfterMs: null,
    };
    if (this.#capacity > 0) this.#keep(entry);
    return entry;
  }

  close(entry: Recorded, outcome: RequestOutcome, clientGoneAfterMs: number | null): void {
    entry.outcome = outcome;
    entry.clientGoneAfterMs = clientGoneAfterMs;
    this.#wake(entry);
  }

  sent(entry: Recorded, bytes: number): void {
    entry.sentBytes += bytes;
    this.#wake(entry);
  }

  /** The first kept request that matches, now or once one does. */
  until(matches: (request: SimulatedRequest) => boolean): Promise<SimulatedRequest> {
    const found = this.entries.find(matches);
    if (found !== undefined) return Promise.resolve(found);
    const { promise, resolve } = Promise.withResolvers<SimulatedRequest>();
    this.#waiters.push({ matches, resolve });
    return promise;
  }

  #keep(entry: Recorded): void {
    if (this.entries.length >= this.#capacity) this.entries.shift();
    this.entries.push(entry);
    this.#wake(entry);
  }

  #wake(entry: SimulatedRequest): void {
    if (this.#waiters.length === 0) return;
    const woken = this.#waiters.filter(({ matches }) => matches(entry));
    this.#waiters = this.#waiters.filter((waiter) => !woken.includes(waiter));
    for (const { resolve } of woken) resolve(entry);
  }
}
