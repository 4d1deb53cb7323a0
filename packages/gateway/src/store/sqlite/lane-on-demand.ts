import { StoreUnavailable } from '../../ports/store.ts';
import type { StoreJobs } from './store-jobs.ts';
import type { StoreLane } from './worker-lane.ts';

/** A lane that is opened by its first job, and again by the next one after it has died. */
export class LaneOnDemand implements StoreLane {
  readonly hasDied = false;
  readonly #open: () => StoreLane;
  #lane: StoreLane | null = null;
  #isClosed = false;

  constructor(open: () => StoreLane) {
    this.#open = open;
  }

  /** Opens it now, for who will need it soon. */
  open(): StoreLane {
    if (this.#lane === null || this.#lane.hasDied) this.#lane = this.#open();
    return this.#lane;
  }

  run<Job extends keyof StoreJobs>(
    job: Job,
    inputs: () => Parameters<StoreJobs[Job]>,
  ): Promise<Awaited<ReturnType<StoreJobs[Job]>>> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return this.open().run(job, inputs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lane?.close();
  }
}
