import type { AnswerAway, AnswerJob, TranslatedAway, TranslationJob, Translator } from '../ports/gateway.ts';
import { JobThread } from '../threads/job-thread.ts';

/** Requests that may wait for their turn. */
const waitingMax = 200;
/** One of them, read and written again, needs no more than this, counted generously. */
const heapMebibytesMax = 768;

/** Translates large requests in a thread of its own, and large answers in another; each starts with the first one. */
export class WorkerTranslator implements Translator {
  readonly #requests: JobThread<TranslationJob, TranslatedAway>;
  readonly #answers: JobThread<AnswerJob, AnswerAway | null>;

  /** `onLost` hears why the thread has ended by itself. */
  constructor(onLost: (why: string) => void) {
    const options = { waitingMax, heapMebibytesMax, onLost };
    this.#requests = new JobThread(new URL('./translate-worker.ts', import.meta.url), options);
    this.#answers = new JobThread(new URL('./answer-worker.ts', import.meta.url), options);
  }

  translate(
    by: string,
    job: TranslationJob,
    body: Uint8Array,
    done: (result: TranslatedAway | null) => void,
  ): () => void {
    return this.#requests.run(by, job, body, done);
  }

  readAnswer(by: string, job: AnswerJob, body: Uint8Array, done: (result: AnswerAway | null) => void): void {
    this.#answers.run(by, job, body, done);
  }

  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#answers.close()]);
  }
}
