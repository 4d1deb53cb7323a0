import { StoreUnavailable } from '../../ports/store.ts';
import type { StoreJobs } from './store-jobs.ts';
import type { StoreLane } from './worker-lane.ts';

/**
 * A lane that is opened by its first job, and again by the next one after it has died. It opens what the path of the store leads to by
 * then, which may be another store than the one that is open, or a folder where it would make one: such a lane is not used.
 */
export class LaneOnDemand implements StoreLane {
  readonly hasDied = false;
  readonly #open: () => StoreLane;
  readonly #findLoss: () => Promise<Error | null>;
  #lane: StoreLane | null = null;
  /** Resolves when the lane has opened the store that the others have open. */
  #found: Promise<void> | null = null;
  #isClosed = false;

  /** `findLoss` says how the path of the store has come loose from what is open; null when it has not. */
  constructor(open: () => StoreLane, findLoss: () => Promise<Error | null>) {
    this.#open = open;
    this.#findLoss = findLoss;
  }

  /** Opens it now, for who will need it soon. */
  open(): StoreLane {
    if (this.#lane === null || this.#lane.hasDied) {
      this.#lane = this.#open();
      this.#found = null;
    }
    return this.#lane;
  }

  async run<Job extends keyof StoreJobs>(
    job: Job,
    inputs: () => Parameters<StoreJobs[Job]>,
  ): Promise<Awaited<ReturnType<StoreJobs[Job]>>> {
    if (this.#isClosed) throw new StoreUnavailable('the store is closed');
    const lane = this.open();
    this.#found ??= this.#find(lane);
    await this.#found;
    return lane.run(job, inputs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lane?.close();
  }

  async #find(lane: StoreLane): Promise<void> {
    try {
      await this.#refuseLoss();
      await lane.run('revision', () => []);
      await this.#refuseLoss();
    } catch (error) {
      if (this.#lane === lane) {
        this.#lane = null;
        this.#found = null;
      }
      await lane.close();
      throw error;
    }
  }

  async #refuseLoss(): Promise<void> {
    const lost = await this.#findLoss();
    if (lost !== null) throw new StoreUnavailable(lost.message);
  }
}
