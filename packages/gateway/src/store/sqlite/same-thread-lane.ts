import { setImmediate as nextTurn } from 'node:timers/promises';
import { type LedgerAlarm, StoreUnavailable } from '../../ports/store.ts';
import { asTrouble } from './database.ts';
import { createStoreJobs, type StoreJobs } from './store-jobs.ts';
import { storeProblem } from './store-problem.ts';
import type { StoreLane } from './worker-lane.ts';

/**
 * The twin of `WorkerLane` for short commands and for tests: the same jobs, one at a time and in order, without a thread to start,
 * which takes longer than most commands.
 * Each job has a turn of the event loop to itself, as no job of one store may see half of another's; and what goes in
 * and out is copied as it is between threads, so that a value that cannot cross fails here too.
 */
export class SameThreadLane implements StoreLane {
  readonly hasDied = false;
  readonly #file: string;
  readonly #onAlarm: (alarm: LedgerAlarm) => void;
  #jobs: StoreJobs | null = null;
  #isClosed = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string, onAlarm: (alarm: LedgerAlarm) => void) {
    this.#file = file;
    this.#onAlarm = onAlarm;
  }

  run<Job extends keyof StoreJobs>(
    job: Job,
    inputs: () => Parameters<StoreJobs[Job]>,
  ): Promise<Awaited<ReturnType<StoreJobs[Job]>>> {
    const done = this.#last.then(() => this.#perform(job, inputs));
    this.#last = done.catch(() => undefined);
    // The job of this name returns what is promised.
    return done as Promise<Awaited<ReturnType<StoreJobs[Job]>>>;
  }

  async close(): Promise<void> {
    await this.run('close', () => []).catch(() => undefined);
    this.#isClosed = true;
  }

  async #perform(job: keyof StoreJobs, inputs: () => readonly unknown[]): Promise<unknown> {
    await nextTurn();
    if (this.#isClosed) throw new StoreUnavailable('the store is closed');
    // A store that no job has opened is not opened to be closed.
    if (this.#jobs === null && job === 'close') return null;
    const values = structuredClone(inputs());
    try {
      this.#jobs ??= createStoreJobs(this.#file, this.#onAlarm);
      // `run` lets only inputs through that fit the job.
      const work = this.#jobs[job] as (...values: readonly unknown[]) => unknown;
      return structuredClone(await work(...values));
    } catch (error) {
      throw asTrouble(storeProblem(error, this.#file));
    }
  }
}
