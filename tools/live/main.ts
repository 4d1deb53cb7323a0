// `npm run live-proof`: a real gateway under load while its cheapest channels fail in every way there is.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkOut } from '../harness/checkout.ts';
import { failuresOf } from './failures.ts';
import { figuresOf } from './figures.ts';
import { brokenGates, brokenOnStatus } from './gates.ts';
import { checkLedger } from './ledger-check.ts';
import { document, type Judged, printableReport } from './report.ts';
import { measureCpu, type Plan, run, warmUpMs, warmUpName } from './run.ts';
import { drawScene } from './scene.ts';
import { spansOf, toldOf } from './status-timeline.ts';
import { fullLengths, quickLengths, timelineOf } from './timeline.ts';

const seed = 1;
const callsPerSecond = 200;
/** For the status page so much of a run is a cell of five minutes. */
const msPerCell = 2_000;
const resultsFile = new URL('../../docs/live-proof.md', import.meta.url);

const { values: options } = parseArgs({
  options: {
    /** The same incidents, each for a few seconds, and nothing is written. */
    quick: { type: 'boolean', default: false },
    /** A commit whose gateway gets the same load first, for its CPU per call. */
    against: { type: 'string' },
  },
});

async function main(isQuick: boolean, against: string | null): Promise<number> {
  const phases = timelineOf(isQuick ? quickLengths : fullLengths);
  const plan = { scene: drawScene(seed), phases, callsPerSecond, seed };
  const otherCpuUs = against === null ? null : await cpuUsAt(against, plan);
  const judged = await judge(plan, otherCpuUs);
  console.log(printableReport(judged));
  if (!isQuick && against === null) writeFileSync(resultsFile, document(judged));
  return judged.broken.length === 0 ? 0 : 1;
}

async function cpuUsAt(commit: string, plan: Plan): Promise<number> {
  const checkout = await checkOut(commit);
  try {
    return await measureCpu({ ...plan, root: checkout.root }, (what) => progress(`${commit}, ${what}`));
  } finally {
    checkout.remove();
  }
}

async function judge(plan: Plan, otherCpuUs: number | null): Promise<Judged> {
  const result = await run(plan, progress);
  const { entries, complaints } = checkLedger(plan.scene, result.calls, result.ledger);
  const phases = figuresOf(result, entries).filter(({ phase }) => phase !== warmUpName);
  const failures = failuresOf(result.calls, entries);
  const startMs = Math.min(...result.ledger.entries.map((entry) => entry.startedAtMs)) + warmUpMs;
  const spans = spansOf(toldOf(result.ledger.entries, { startMs, msPerCell }));
  const broken = [...brokenGates(phases, complaints), ...brokenOnStatus(spans, result.hitChannels)];
  return { result, phases, complaints, failures, spans, otherCpuUs, broken };
}

function progress(what: string): void {
  console.error(`live proof: ${what} …`);
}

process.exitCode = await main(options.quick, options.against ?? null);
