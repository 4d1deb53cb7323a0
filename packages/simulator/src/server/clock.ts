/** Time as the simulator needs it; tests bring their own. */
export interface Clock {
  /** Milliseconds on a scale that never goes back. */
  nowMs(): number;
  /** Milliseconds since 1970. */
  epochMs(): number;
  /** Runs the job once, at `atMs` on the scale of `nowMs` or up to two milliseconds later. */
  runAt(atMs: number, job: () => void): void;
}

/** Jobs due within the same two milliseconds share one timer, so thousands of streams cost few wake-ups. */
const slotMs = 2;

/** Node refuses longer timers; a job that far away is as good as never. */
const delayMsMax = 2_000_000_000;

export function systemClock(): Clock {
  const slots = new Map<number, (() => void)[]>();
  const nowMs = () => performance.now();
  const openSlot = (slot: number) => {
    const jobs: (() => void)[] = [];
    slots.set(slot, jobs);
    const run = () => {
      slots.delete(slot);
      for (const job of jobs) job();
    };
    // Sockets keep the process alive; a waiting answer alone must not.
    setTimeout(run, Math.min(Math.max(slot * slotMs - nowMs(), 1), delayMsMax)).unref();
    return jobs;
  };
  return {
    nowMs,
    epochMs: () => Date.now(),
    runAt: (atMs, job) => {
      const slot = Math.ceil(atMs / slotMs);
      (slots.get(slot) ?? openSlot(slot)).push(job);
    },
  };
}
