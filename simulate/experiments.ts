import { heldOut, sixtyChannels } from './families.ts';
import type { Scene } from './run.ts';
import { type Load, loads, scenarios, sceneOf } from './scenes.ts';

/** One row of the table: a scene, or a family of them, and the seeds it is played with. */
export interface Experiment {
  /** Of the scenario and its load, as `--only` names it. */
  readonly name: string;
  readonly scenario: string;
  /** As the table names it. */
  readonly load: string;
  readonly callsPerSecond: number;
  readonly sceneFor: (seed: number) => Scene;
  readonly seeds: readonly number[];
}

/** Calls per second from which on a quick run leaves a load out. */
const busyLoad = 100;

/** Everything that is played; `isQuick`: fewer seeds, and short of the busiest. */
export function experiments(isQuick: boolean): readonly Experiment[] {
  const tuned = loads
    .filter(({ callsPerSecond }) => !isQuick || callsPerSecond < busyLoad)
    .flatMap((load) => scenarios.map((scenario) => experimentOf(scenario, load, isQuick)));
  return [
    ...tuned,
    {
      name: 'sixty channels@30',
      scenario: 'sixty channels',
      load: '30',
      callsPerSecond: 30,
      sceneFor: sixtyChannels,
      seeds: seedsFrom(201, isQuick ? 1 : 10),
    },
    {
      name: 'held out@drawn',
      scenario: 'held out',
      load: 'drawn',
      callsPerSecond: 15,
      sceneFor: heldOut,
      seeds: seedsFrom(301, isQuick ? 4 : 20),
    },
  ];
}

function experimentOf(scenario: (typeof scenarios)[number], load: Load, isQuick: boolean): Experiment {
  const { callsPerSecond, seeds, quickSeeds } = load;
  return {
    name: `${scenario.name}@${callsPerSecond}`,
    scenario: scenario.name,
    load: String(callsPerSecond),
    callsPerSecond,
    sceneFor: () => sceneOf(scenario, load),
    seeds: seedsFrom(101, isQuick ? quickSeeds : seeds),
  };
}

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}
