import type { TranslatedAway, TranslationJob, Translator } from '../ports/gateway.ts';
import { JobThread } from '../threads/job-thread.ts';

/** Requests that may wait for their turn. */
const waitingMax = 200;
/** One of them, read and written again, needs no more than this, counted generously. */
const heapMebibytesMax = 768;

/** Translates large requests in a thread of its own, which starts with the first one. */
export class WorkerTranslator implements Translator {
  readonly #thread: JobThread<TranslationJob, TranslatedAway>;

  /** `onLost` hears why the thread has ended by itself. */
  constructor(onLost: (why: string) => void) {
    const script = new URL('./translate-worker.ts', import.meta.url);
    this.#thread = new JobThread(script, { waitingMax, heapMebibytesMax, onLost });
  }

  translate(
    by: string,
    job: TranslationJob,
    body: Uint8Array,
    done: (result: TranslatedAway | null) => void,
  ): () => void {
    return this.#thread.run(by, job, body, done);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
