import { heldOut, sixtyChannels } from './families.ts';
import type { Scene } from './run.ts';
import { type Load, loads, type Scenario, scenarios, sceneOf } from './scenes.ts';

/** One row of the table: a scene, or a family of them, and the seeds it is played with. */
export interface Experiment {
  /** The scenario and its load, as `--only` names them. */
  readonly name: string;
  readonly scenario: string;
  /** As the table names it. */
  readonly load: string;
  readonly callsPerSecond: number;
  readonly isGated: boolean;
  readonly hasFewSeeds: boolean;
  readonly sceneFor: (seed: number) => Scene;
  readonly seeds: readonly number[];
}

/** Everything that is played; `isQuick`: fewer seeds, and short of the busiest. */
export function experiments(isQuick: boolean): readonly Experiment[] {
  const tuned = loads
    .filter(({ quickSeeds }) => !isQuick || quickSeeds > 0)
    .flatMap((load) => scenarios.map((scenario) => experimentOf(scenario, load, isQuick)));
  const drawn = { isGated: true, hasFewSeeds: isQuick };
  return [
    ...tuned,
    {
      ...drawn,
      name: 'sixty channels@30',
      scenario: 'sixty channels',
      load: '30',
      callsPerSecond: 30,
      sceneFor: sixtyChannels,
      seeds: seedsFrom(201, isQuick ? 1 : 10),
    },
    {
      ...drawn,
      name: 'held out@drawn',
      scenario: 'held out',
      load: 'drawn',
      callsPerSecond: 15,
      sceneFor: heldOut,
      seeds: seedsFrom(301, isQuick ? 4 : 20),
    },
  ];
}

function experimentOf(scenario: Scenario, load: Load, isQuick: boolean): Experiment {
  const seeds = isQuick ? load.quickSeeds : load.seeds;
  return {
    name: `${scenario.name}@${load.name}`,
    scenario: scenario.name,
    load: load.name,
    callsPerSecond: load.callsPerSecond,
    isGated: load.isGated,
    hasFewSeeds: seeds < load.seeds,
    sceneFor: () => sceneOf(scenario, load),
    seeds: seedsFrom(101, seeds),
  };
}

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}
