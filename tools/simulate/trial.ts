import { coolDownShuffle, inverseSquare, oracle, roundRobin } from './baselines.ts';
import { experiments } from './experiments.ts';
import { headgate } from './headgate.ts';
import type { PolicyMaker } from './policy.ts';
import { type Measures, simulate } from './run.ts';

/** One seed of one experiment. */
export interface Trial {
  readonly isQuick: boolean;
  /** The name of the experiment. */
  readonly name: string;
  readonly seed: number;
}

/** The measures of every policy, by its name. */
export type TrialMeasures = Readonly<Record<PolicyName, Measures>>;

export const baselineNames = [
  'round robin',
  'shuffle, 5 s cooldown',
  '1/price², 30 s memory',
] as const satisfies readonly PolicyName[];

type PolicyName = 'headgate' | 'round robin' | 'shuffle, 5 s cooldown' | '1/price², 30 s memory' | 'oracle';

/** All policies in the same world: the same calls at the same moments, the same things happening. */
export function runTrial({ isQuick, name, seed }: Trial): TrialMeasures {
  const experiment = experiments(isQuick).find((each) => each.name === name);
  if (experiment === undefined) throw new Error(`no experiment ${name}`);
  const run = (make: PolicyMaker) => simulate(experiment.sceneFor(seed), make, seed);
  return {
    headgate: run(headgate),
    'round robin': run(roundRobin),
    'shuffle, 5 s cooldown': run(coolDownShuffle),
    '1/price², 30 s memory': run(inverseSquare),
    oracle: run(oracle),
  };
}
