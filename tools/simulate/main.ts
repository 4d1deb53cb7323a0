import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Crew } from './crew.ts';
import { type Experiment, experiments } from './experiments.ts';
import { brokenGates, brokenTimes, moreUsMax, type Row } from './gates.ts';
import { resultOf } from './measure.ts';
import { routingTime } from './planning-time.ts';
import { documentOf, summaryOf, tableOf, timesOf, verdictOf } from './report.ts';
import { baselineNames, type Trial, type TrialMeasures } from './trial.ts';

const usage = `npm run simulate -- [options]
  --quick        a few seeds, and short of the busiest load; under a minute
  --only A,B     experiments whose names have one of these words in them, as 'latency ×10@0.3'`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** Every policy in every scene: the table, the gates, and 1 when one of them is broken. */
async function main(): Promise<number> {
  if (options.help) {
    console.log(usage);
    return 0;
  }
  // First, while nothing else is running.
  const times = [1, ...moreUsMax.keys()].map(routingTime);
  const rows = await play(experiments(options.quick).filter(isWanted));
  const broken = [...rows.flatMap(brokenGates), ...brokenTimes(times)];
  console.log(tableOf(rows));
  console.log(summaryOf(rows));
  console.log(timesOf(times));
  for (const each of brokenTimes(times)) console.log(`BROKEN ${each}`);
  if (!options.quick && options.only === undefined)
    writeFileSync(resultsFile, documentOf(rows, broken, times));
  console.log(verdictOf(rows, broken));
  return broken.length === 0 ? 0 : 1;
}

const resultsFile = new URL('../../docs/routing-results.md', import.meta.url);

function isWanted({ name }: Experiment): boolean {
  return options.only === undefined || options.only.split(',').some((word) => name.includes(word));
}

async function play(wanted: readonly Experiment[]): Promise<readonly Row[]> {
  const crew = new Crew();
  const rows = await Promise.all(wanted.map((experiment) => rowOf(experiment, crew)));
  await crew.dismiss();
  return rows;
}

async function rowOf(experiment: Experiment, crew: Crew): Promise<Row> {
  const { name, seeds } = experiment;
  const trials = seeds.map((seed): Trial => ({ isQuick: options.quick, name, seed }));
  const measures = await Promise.all(trials.map((trial) => crew.play(trial)));
  const of = (policy: keyof TrialMeasures) => resultOf(measures.map((each) => each[policy]));
  const row = {
    ...experiment,
    headgate: of('headgate'),
    oracle: of('oracle'),
    baselines: Object.fromEntries(baselineNames.map((policy) => [policy, of(policy)])),
  };
  // At once: a whole run takes minutes.
  for (const broken of brokenGates(row)) console.log(`BROKEN ${broken}`);
  return row;
}

process.exitCode = await main();
