import { Worker } from 'node:worker_threads';
import type { TokenCounter } from '../ports/gateway.ts';

interface Waiting {
  readonly body: Uint8Array;
  readonly resolve: (tokens: number | null) => void;
}

/** Counts that may wait for their turn; beyond that none is made. */
const waitingMax = 8;

/** Counts in a thread of its own, which starts with the first count: a vocabulary is large, and most gateways need none. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #waiting: Waiting[] = [];
  #current: Waiting | null = null;
  #worker: Worker | null = null;

  count(body: Uint8Array): Promise<number | null> {
    if (this.#waiting.length >= waitingMax) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.push({ body, resolve });
      this.#next();
    });
  }

  async close(): Promise<void> {
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
    await this.#worker?.terminate();
  }

  #next(): void {
    if (this.#current !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#current = next;
    this.#worker ??= this.#start();
    // A copy, handed over: the caller's bytes are a view of a buffer that is still in use, and `slice` of Node's Buffer
    // would be one more view of it.
    const body = new Uint8Array(next.body);
    this.#worker.postMessage(body, [body.buffer]);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./count-worker.ts', import.meta.url));
    // A thread that only waits for work does not keep the process alive.
    worker.unref();
    worker.on('message', (tokens: number | null) => this.#finish(tokens));
    worker.on('error', () => this.#fail(worker));
    worker.on('exit', () => this.#fail(worker));
    return worker;
  }

  #finish(tokens: number | null): void {
    const done = this.#current;
    this.#current = null;
    done?.resolve(tokens);
    this.#next();
  }

  /** The next count starts a new thread. One that fails says so twice. */
  #fail(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#finish(null);
  }
}
