import type { TokenCounter } from '../ports/gateway.ts';
import { JobThread } from '../threads/job-thread.ts';

/** Counts that may wait for their turn; beyond that none is made. */
const waitingMax = 8;

/** Counts in a thread of its own, which starts with the first count: a vocabulary is large, and most gateways need none. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #thread: JobThread<null, number | null>;

  /** `onLost` hears why the thread has ended by itself. */
  constructor(onLost: (why: string) => void) {
    this.#thread = new JobThread(new URL('./count-worker.ts', import.meta.url), { waitingMax, onLost });
  }

  count(body: Uint8Array, by: string): Promise<number | null> {
    return new Promise((resolve) => {
      this.#thread.run(by, null, body, resolve);
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
