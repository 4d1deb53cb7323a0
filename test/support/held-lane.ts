import type { OpenLane } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../packages/gateway/src/store/sqlite/same-thread-lane.ts';
import type { StoreJobs } from '../../packages/gateway/src/store/sqlite/store-jobs.ts';
import type { StoreLane } from '../../packages/gateway/src/store/sqlite/worker-lane.ts';

type Fate = (job: keyof StoreJobs) => Promise<void>;

/** Opens lanes of which a test decides for every job when it is done, or that it fails; as a thread, each does one after the other. */
export function lanesWith(fate: Fate): OpenLane {
  return (...lane) => new HeldLane(new SameThreadLane(...lane), fate);
}

class HeldLane implements StoreLane {
  readonly hasDied = false;
  readonly #lane: StoreLane;
  readonly #fate: Fate;
  #last: Promise<unknown> = Promise.resolve();

  constructor(lane: StoreLane, fate: Fate) {
    this.#lane = lane;
    this.#fate = fate;
  }

  run<Job extends keyof StoreJobs>(
    job: Job,
    inputs: () => Parameters<StoreJobs[Job]>,
  ): Promise<Awaited<ReturnType<StoreJobs[Job]>>> {
    const done = this.#last.then(() => this.#fate(job)).then(() => this.#lane.run(job, inputs));
    this.#last = done.catch(() => undefined);
    return done;
  }

  close(): Promise<void> {
    return this.#lane.close();
  }
}
