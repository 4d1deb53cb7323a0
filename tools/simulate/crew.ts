import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Trial, TrialMeasures } from './trial.ts';

/**
 * Threads that play trials, one on each core. Which thread plays which trial depends on the machine, what comes of a trial
 * does not: it is made of its seed.
 */
export class Crew {
  readonly #workers = Array.from(
    { length: availableParallelism() },
    () => new Worker(new URL('./trial-worker.ts', import.meta.url)),
  );
  readonly #idle = [...this.#workers];
  readonly #waiting: ((worker: Worker) => void)[] = [];

  async play(trial: Trial): Promise<TrialMeasures> {
    const worker = await this.#take();
    try {
      return await answerOf(worker, trial);
    } finally {
      this.#give(worker);
    }
  }

  async dismiss(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #take(): Promise<Worker> {
    const worker = this.#idle.pop();
    return worker === undefined
      ? new Promise((resolve) => this.#waiting.push(resolve))
      : Promise.resolve(worker);
  }

  #give(worker: Worker): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(worker);
    else next(worker);
  }
}

function answerOf(worker: Worker, trial: Trial): Promise<TrialMeasures> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      settle();
    };
    const onMessage = (measures: TrialMeasures) => end(() => resolve(measures));
    const onError = (error: unknown) => end(() => reject(error));
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.postMessage(trial);
  });
}
