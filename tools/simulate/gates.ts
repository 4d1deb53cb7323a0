import type { Result } from './measure.ts';
import type { RoutingTime } from './planning-time.ts';

/** One row of the table: what every policy did in one scene. */
export interface Row {
  readonly scenario: string;
  /** As the table names it. */
  readonly load: string;
  readonly callsPerSecond: number;
  /** True when it must hold; else it is shown. */
  readonly isGated: boolean;
  readonly hasFewSeeds: boolean;
  readonly headgate: Result;
  readonly oracle: Result;
  readonly baselines: Readonly<Record<string, Result>>;
}

/** A load from which little is to be learned. Calls per second. */
const rareLoad = 0.3;
/** The margins of success are a handful of calls where seeds are few. */
const fewSeedsSlack = 3;

/** Percent more than the oracle's loss. */
export function regretOf(result: Result, oracle: Result): number {
  return 100 * (result.loss / oracle.loss - 1);
}

/** The gates that a row breaks (routing.md, "Gates of the simulation"); empty when it holds. */
export function brokenGates(row: Row): readonly string[] {
  if (!row.isGated) return [];
  return [...brokenByOutcome(row), ...brokenByEffort(row)].map(
    (each) => `${row.scenario}, ${row.load}: ${each}`,
  );
}

function brokenByOutcome(row: Row): string[] {
  const { scenario, callsPerSecond, hasFewSeeds, headgate, oracle, baselines } = row;
  const regretMax = callsPerSecond <= rareLoad || scenario === 'flapping 20 s' ? 10 : 8;
  const slack = hasFewSeeds ? fewSeedsSlack : 1;
  const successMargin = scenario === 'mid-stream 30 %' ? 0.006 : 0.001;
  const best = Math.max(...Object.values(baselines).map(({ success }) => success));
  const p99MaxMs = Math.min(
    1.3 * oracle.p99Ms,
    scenario === 'outage, hung' ? 6000 : Number.POSITIVE_INFINITY,
  );
  return [
    ...over('regret', regretOf(headgate, oracle), regretMax),
    ...over('success below the oracle', oracle.success - headgate.success, slack * successMargin),
    ...over('success below a baseline', best - headgate.success, slack * 0.001),
    ...over('cost per success', headgate.costPerSuccess / oracle.costPerSuccess, 1.1),
    ...over('TTFT p99', headgate.p99Ms, p99MaxMs),
  ];
}

/** Attempts per call, but where the oracle itself needs more: a second attempt may be cheaper than a dear first one. */
export const attemptsPerCallMax = 1.15;

function brokenByEffort({ scenario, headgate, oracle }: Row): string[] {
  const attemptsMax = Math.max(attemptsPerCallMax, oracle.attemptsPerCall);
  return [
    ...over('attempts per call', headgate.attemptsPerCall, attemptsMax),
    ...(scenario === 'total outage' ? over('attempts in the outage', headgate.attemptsInWindow, 1.5) : []),
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

/** Microseconds that a call may cost more than with one channel, by the number of channels (issue 9). */
export const moreUsMax = new Map([
  [20, 5],
  [60, 10],
  [1000, 60],
]);
/** The loop is not held longer by a second's look for what is to be probed (issue 9). */
const probingMsMax = 2;

/** The first of the times is that of one channel. */
export function brokenTimes(times: readonly RoutingTime[]): readonly string[] {
  const alone = times[0]?.callUs ?? 0;
  return times.flatMap(({ channels, callUs, probingMs }) => [
    ...over(
      `${channels} channels, µs more`,
      callUs - alone,
      moreUsMax.get(channels) ?? Number.POSITIVE_INFINITY,
    ),
    ...over(`${channels} channels, ms of a look for probes`, probingMs, probingMsMax),
  ]);
}
