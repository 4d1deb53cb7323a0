import type { Clock } from './server/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs what falls due on the way, in order. */
  advance(ms: number): void;
}

/** A clock that stands still at 2026-01-31T12:00:00Z until it is told to move. */
export function manualClock(): ManualClock {
  const startedMs = Date.UTC(2026, 0, 31, 12);
  const waiting: { readonly atMs: number; readonly job: () => void }[] = [];
  let nowMs = 0;
  const nextDue = (untilMs: number) => {
    const due = waiting
      .filter(({ atMs }) => atMs <= untilMs)
      .toSorted((one, other) => one.atMs - other.atMs)[0];
    if (due !== undefined) waiting.splice(waiting.indexOf(due), 1);
    return due;
  };
  return {
    nowMs: () => nowMs,
    epochMs: () => startedMs + nowMs,
    runAt: (atMs, job) => void waiting.push({ atMs, job }),
    advance: (ms) => {
      const untilMs = nowMs + ms;
      for (let due = nextDue(untilMs); due !== undefined; due = nextDue(untilMs)) {
        nowMs = Math.max(nowMs, due.atMs);
        due.job();
      }
      nowMs = untilMs;
    },
  };
}
