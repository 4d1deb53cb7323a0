import type { Measures } from './run.ts';

/** The doings of a policy in a scene, over all seeds. */
export interface Result {
  readonly loss: number;
  /** From 0 to 1. */
  readonly success: number;
  /** Dollars. */
  readonly costPerSuccess: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly attemptsPerCall: number;
  readonly attemptsInWindow: number;
  /** In the worst run. */
  readonly onRefusing: number;
  readonly onHung: number;
  readonly probes: number;
}

export function resultOf(runs: readonly Measures[]): Result {
  const sum = (part: (measures: Measures) => number) =>
    runs.reduce((total, measures) => total + part(measures), 0);
  const worst = (part: (measures: Measures) => number) => Math.max(...runs.map(part));
  const calls = sum((it) => it.calls);
  const answered = sum((it) => it.answered);
  const times = runs.flatMap(({ firstContentMs }) => [...firstContentMs]).sort((a, b) => a - b);
  return {
    loss: sum((it) => it.loss),
    success: answered / calls,
    costPerSuccess: sum((it) => it.cost) / answered,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    attemptsPerCall: sum((it) => it.attempts) / calls,
    attemptsInWindow: sum((it) => it.attemptsInWindow) / sum((it) => it.callsInWindow),
    onRefusing: worst((it) => it.onRefusing),
    onHung: worst((it) => it.onHung),
    probes: worst((it) => it.probes),
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
