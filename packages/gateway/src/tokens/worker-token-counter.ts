import type { TokenCounter } from '../ports/gateway.ts';
import { JobThread } from '../threads/job-thread.ts';

/** Counts that may wait for their turn; beyond that none is made. */
const waitingMax = 8;

/** Counts in a thread of its own, which starts with the first count: a vocabulary is large, and most gateways need none. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #thread = new JobThread<null, number | null>(new URL('./count-worker.ts', import.meta.url), {
    waitingMax,
  });

  count(body: Uint8Array, by: string): Promise<number | null> {
    return new Promise((resolve) => {
      this.#thread.run(by, null, body, resolve);
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
