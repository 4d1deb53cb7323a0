import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/store.ts';

/** How long a report waits for the store to have what was durable when it was asked for. */
const patienceMs = 2_000;
/** A feeder that does not come back by then waits for a lock that another process holds. */
const stuckMs = 3_000;
const pollMs = 20;

/** The places that journals had reached which another process feeds. */
export type Targets = ReadonlyMap<bigint, number>;

export interface CatchUpStep {
  /** Null when the store has all of it; otherwise the moment up to which it has everything. */
  readonly asOfMs: number | null;
  readonly isHopeless: boolean;
  /** Null where this process is the feeder. */
  readonly targets: Targets | null;
}

type TakeStep = (targets: Targets | null) => CatchUpStep | Promise<CatchUpStep>;

/**
 * Brings the store up to what is durable now, but no longer than a report may wait. Null when it has all of it, otherwise the moment up to
 * which it has everything.
 */
export async function catchUpBy(takeStep: TakeStep): Promise<number | null> {
  const deadline = performance.now() + patienceMs;
  let targets: Targets | null = null;
  for (;;) {
    const step: CatchUpStep = await takeStep(targets);
    if (step.isHopeless || step.asOfMs === null || performance.now() >= deadline) return step.asOfMs;
    targets = step.targets;
    await wait(targets === null ? 0 : pollMs);
  }
}

/**
 * The same for many. Other jobs of the feeder's thread have their turn between two steps, and all who ask while it is under way share the
 * next time: however many ask, it is done twice at the most before a change of configuration.
 */
export class CatchUp {
  readonly #takeStep: TakeStep;
  #running: Promise<number | null> | null = null;
  #next: Promise<number | null> | null = null;

  constructor(takeStep: TakeStep) {
    this.#takeStep = takeStep;
  }

  /** Rejects when the store does not say. */
  async ask(): Promise<number | null> {
    const patience = new AbortController();
    const asked = this.#share();
    // Nobody may hear of it after the time is over.
    asked.catch(() => undefined);
    const stuck = wait(stuckMs, 'stuck' as const, { signal: patience.signal, ref: false });
    stuck.catch(() => undefined);
    const answer = await Promise.race([asked, stuck]).finally(() => patience.abort());
    if (answer === 'stuck') throw new StoreUnavailable('the store is locked');
    return answer;
  }

  #share(): Promise<number | null> {
    if (this.#running === null) return this.#start();
    const start = () => {
      this.#next = null;
      return this.#start();
    };
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  #start(): Promise<number | null> {
    const running = catchUpBy(this.#takeStep).finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }
}
