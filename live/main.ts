// `npm run live-proof`: a real gateway under load while its cheapest channels fail in every way there is.
import { writeFileSync } from 'node:fs';
import { failuresOf } from './failures.ts';
import { figuresOf } from './figures.ts';
import { brokenGates } from './gates.ts';
import { checkLedger } from './ledger-check.ts';
import { document, type Judged, printableReport } from './report.ts';
import { type Plan, run, warmUpName } from './run.ts';
import { drawScene } from './scene.ts';
import { fullLengths, quickLengths, timelineOf } from './timeline.ts';

const seed = 1;
const callsPerSecond = 200;
const resultsFile = new URL('../docs/live-proof.md', import.meta.url);

/** `--quick`: the same incidents, each for a few seconds, and nothing is written. */
async function main(isQuick: boolean): Promise<number> {
  const phases = timelineOf(isQuick ? quickLengths : fullLengths);
  const judged = await judge({ scene: drawScene(seed), phases, callsPerSecond, seed });
  console.log(printableReport(judged));
  if (!isQuick) writeFileSync(resultsFile, document(judged));
  return judged.broken.length === 0 ? 0 : 1;
}

async function judge(plan: Plan): Promise<Judged> {
  const result = await run(plan, (what) => console.error(`live proof: ${what} …`));
  const { entries, complaints } = checkLedger(plan.scene, result.calls, result.ledger);
  const phases = figuresOf(result, entries).filter(({ phase }) => phase !== warmUpName);
  const failures = failuresOf(result.calls, entries);
  return { result, phases, complaints, failures, broken: brokenGates(phases, complaints) };
}

process.exitCode = await main(process.argv.includes('--quick'));
