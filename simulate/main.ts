import { writeFileSync } from 'node:fs';
import { coolDownShuffle, inverseSquare, oracle, roundRobin } from './baselines.ts';
import { heldOut, sixtyChannels } from './families.ts';
import { brokenGates, type Row } from './gates.ts';
import { headgate } from './headgate.ts';
import { resultOf } from './measure.ts';
import { planningUs } from './planning-time.ts';
import type { PolicyMaker } from './policy.ts';
import { summaryOf, tableOf, verdictOf } from './report.ts';
import { type Scene, simulate } from './run.ts';
import { loads, scenarios, sceneOf } from './scenes.ts';

/** `npm run simulate`: every policy in every scene, the table, the gates; `--quick` for a few seeds and short of the busiest. */
function main(isQuick: boolean): number {
  const rows: Row[] = [];
  for (const { scenario, load, callsPerSecond, sceneFor, seeds } of experiments(isQuick)) {
    const row = measure({ scenario, load, callsPerSecond }, sceneFor, seeds);
    rows.push(row);
    for (const broken of brokenGates(row)) console.log(`BROKEN ${broken}`);
  }
  const broken = rows.flatMap(brokenGates);
  console.log(tableOf(rows));
  console.log(summaryOf(rows));
  const planning = `Planning a call over sixty channels of one model: ${planningUs().toFixed(0)} µs here.`;
  console.log(planning);
  if (!isQuick) writeFileSync(resultsFile, document(rows, broken, planning));
  console.log(verdictOf(rows, broken));
  return broken.length === 0 ? 0 : 1;
}

const resultsFile = new URL('../docs/routing-results.md', import.meta.url);

const baselines = {
  'round robin': roundRobin,
  'shuffle, 5 s cooldown': coolDownShuffle,
  '1/price², 30 s memory': inverseSquare,
} as const satisfies Record<string, PolicyMaker>;

interface Experiment {
  readonly scenario: string;
  readonly load: string;
  readonly callsPerSecond: number;
  readonly sceneFor: (seed: number) => Scene;
  readonly seeds: readonly number[];
}

function experiments(isQuick: boolean): readonly Experiment[] {
  const tuned = loads
    .filter(({ callsPerSecond }) => !isQuick || callsPerSecond < 100)
    .flatMap((load) =>
      scenarios.map((scenario) => ({
        scenario: scenario.name,
        load: String(load.callsPerSecond),
        callsPerSecond: load.callsPerSecond,
        sceneFor: () => sceneOf(scenario, load),
        // Where calls are rare, it takes more of them to say anything.
        seeds: seedsFrom(101, load.callsPerSecond < 1 ? (isQuick ? 15 : 30) : isQuick ? 1 : 10),
      })),
    );
  return [
    ...tuned,
    {
      scenario: 'sixty channels',
      load: '30',
      callsPerSecond: 30,
      sceneFor: sixtyChannels,
      seeds: seedsFrom(201, isQuick ? 1 : 10),
    },
    {
      scenario: 'held out',
      load: 'drawn',
      callsPerSecond: 15,
      sceneFor: heldOut,
      seeds: seedsFrom(301, isQuick ? 4 : 20),
    },
  ];
}

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}

function measure(
  place: Pick<Row, 'scenario' | 'load' | 'callsPerSecond'>,
  sceneFor: (seed: number) => Scene,
  seeds: readonly number[],
): Row {
  const run = (make: PolicyMaker) => resultOf(seeds.map((seed) => simulate(sceneFor(seed), make, seed)));
  return {
    ...place,
    headgate: run(headgate('synthetic')),
    oracle: run(oracle),
    baselines: Object.fromEntries(Object.entries(baselines).map(([name, make]) => [name, run(make)])),
  };
}

function document(rows: readonly Row[], broken: readonly string[], planning: string): string {
  return `# What routing does in simulation

Written by \`npm run simulate\`: the router of the gateway, unchanged, against baselines and an oracle that knows the true
state of every channel. Seeds 101–110 (at 0.3 calls/s 101–130, sixty channels 201–210, held out 301–320). Eight channels, whose width grows with the
load above 15 calls/s; an hour at 0.3 calls/s, so that 1 % of its calls is more than a handful. Ejected
channels are probed by synthetic calls of one token; attempts in the table are those of callers. Regret: cost, waiting
(5 % of a mean call per second) and failures (five mean calls) above the oracle's.

${planning}

${summaryOf(rows)}

${broken.length === 0 ? 'All gates hold.' : ['Broken gates:', '', ...broken.map((each) => `- ${each}`)].join('\n')}

${tableOf(rows)}
`;
}

process.exitCode = main(process.argv.includes('--quick'));
