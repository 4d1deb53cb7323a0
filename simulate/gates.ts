import type { Result } from './measure.ts';

/** One row of the table: what every policy did in one scene. */
export interface Row {
  readonly scenario: string;
  /** As the table names it. */
  readonly load: string;
  readonly callsPerSecond: number;
  readonly headgate: Result;
  readonly oracle: Result;
  readonly baselines: Readonly<Record<string, Result>>;
}

/** Where the ground itself moves, or there is little to learn from. Calls per second. */
const rareLoad = 0.3;
const hardScenarios: readonly string[] = ['flapping 20 s', 'sixty channels'];

/** Percent more than the oracle's loss. */
export function regretOf(result: Result, oracle: Result): number {
  return 100 * (result.loss / oracle.loss - 1);
}

/** What a row breaks of routing.md, "Gates of the simulation"; empty when it holds. */
export function brokenGates(row: Row): readonly string[] {
  return [...brokenByOutcome(row), ...brokenByEffort(row)].map(
    (each) => `${row.scenario}, ${row.load}: ${each}`,
  );
}

function brokenByOutcome({ scenario, callsPerSecond, headgate, oracle, baselines }: Row): string[] {
  const regretMax = callsPerSecond <= rareLoad || hardScenarios.includes(scenario) ? 10 : 8;
  const successMargin = scenario === 'mid-stream 30 %' || scenario === 'held out' ? 0.006 : 0.001;
  const best = Math.max(...Object.values(baselines).map(({ success }) => success));
  const p99MaxMs = scenario === 'outage, hung' ? 6000 : 1.3 * oracle.p99Ms;
  return [
    ...over('regret', regretOf(headgate, oracle), regretMax),
    ...over('success below the oracle', oracle.success - headgate.success, successMargin),
    ...over('success below a baseline', best - headgate.success, Math.max(0.001, successMargin)),
    ...over('cost per success', headgate.costPerSuccess / oracle.costPerSuccess, 1.1),
    ...over('TTFT p99', headgate.p99Ms, p99MaxMs),
  ];
}

function brokenByEffort({ scenario, headgate, oracle }: Row): string[] {
  // Where the oracle itself finds that a second attempt is cheaper than a dear first one, it may be made.
  const attemptsMax = scenario === 'total outage' ? 1.5 : Math.max(1.15, oracle.attemptsPerCall);
  return [
    ...over('attempts per call', headgate.attemptsPerCall, attemptsMax),
    ...(scenario === 'outage, refused' ? over('attempts on the dead', headgate.onRefusing, 10) : []),
    ...(scenario === 'outage, hung' ? over('attempts on the hung', headgate.onHung, 70) : []),
  ];
}

function over(name: string, value: number, limit: number): string[] {
  return value > limit ? [`${name} ${round(value)} > ${round(limit)}`] : [];
}

function round(value: number): string {
  return value.toFixed(value < 10 ? 4 : 1);
}

/** Issue 4: planning over sixty channels; microseconds. */
const planningUsMax = 30;

export function brokenPlanning(planningUs: number): readonly string[] {
  return over('planning, µs', planningUs, planningUsMax);
}
