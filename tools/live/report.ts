import { cpus } from 'node:os';
import { type Columns, textTable } from '../harness/text-table.ts';
import type { PhaseFigures } from './figures.ts';
import { percent, successOf } from './gates.ts';
import { cpuUsPerCall, type RunResult } from './run.ts';
import type { ToldSpan } from './status-timeline.ts';

/** A run that has been looked at. */
export interface Judged {
  readonly result: RunResult;
  readonly phases: readonly PhaseFigures[];
  readonly complaints: readonly string[];
  /** When models and channels were not well, as the status page tells it. */
  readonly spans: readonly ToldSpan[];
  /** The troubles that failed calls met. */
  readonly failures: readonly string[];
  readonly broken: readonly string[];
  /** CPU per call of another version of the project under the same load; null when none was asked for. */
  readonly otherCpuUs: number | null;
}

const complaintsShown = 20;
/** The share that is left of the CPU that a call took before the gateway was built a second time. */
const shareOfOtherMax = 0.5;

const columns: Columns<PhaseFigures> = {
  phase: ({ phase }) => phase,
  calls: ({ calls }) => String(calls),
  'success %': (figures) => percent(successOf(figures)),
  failed: ({ failed }) => String(failed),
  'cut after content': ({ cut }) => String(cut),
  rescued: ({ rescued }) => String(rescued),
  'TTFT p50 ms': ({ ttftP50Ms }) => rounded(ttftP50Ms),
  'TTFT p99 ms': ({ ttftP99Ms }) => rounded(ttftP99Ms),
  'JSON p99 ms': ({ wholeP99Ms }) => rounded(wholeP99Ms),
  'attempts/call': ({ attempts, calls }) => (attempts / calls).toFixed(3),
  'at hit channels': ({ attemptsAtHit }) => String(attemptsAtHit),
  'cost/success µ$': ({ costUsdMicro }) => costUsdMicro.toFixed(1),
};

/** Everything a run found, as a person reads it; its last line is the verdict. */
export function printableReport(judged: Judged): string {
  return [
    ...table(judged),
    '',
    ...facts(judged),
    ...judged.broken.map((each) => `BROKEN ${each}`),
    verdict(judged),
  ].join('\n');
}

export function document(judged: Judged): string {
  const { broken } = judged;
  return `# What a real gateway does while its channels fail

Written by \`npm run live-proof\`: sixty simulated channels of varied price and speed over twelve models, on ports of their
own, behind one gateway process with its ledger on disk. 200 calls a second come whatever happens: 80 % streams, in four
protocols, many of them translated. Every incident hits the three cheapest channels of every model at once. Success is
of calls that no channel broke off after content; a call sent to a channel that was hit counts in the phase it was
sent in. The groups have streams that break off continued (\`rescue: continue\`): *rescued* ended whole, *cut after content* did not.

\`\`\`
${table(judged).join('\n')}
\`\`\`

${facts(judged).join('\n')}

${broken.length === 0 ? 'All gates hold.' : ['Broken gates:', '', ...broken.map((each) => `- ${each}`)].join('\n')}
`;
}

function table({ phases }: Judged): readonly string[] {
  return textTable(columns, phases);
}

function facts({ result, phases, complaints, failures, spans, otherCpuUs }: Judged): readonly string[] {
  const { calls, cpuMs, loadMs, ledger, requestsReceived, worstLagMs } = result;
  const attempts = ledger.entries.reduce((sum, entry) => sum + entry.attempts.length, 0);
  return [
    `Ledger: ${ledger.entries.length} entries of ${calls.length} calls, ${complaints.length} complaints.`,
    ...complaints.slice(0, complaintsShown).map((complaint) => `  ${complaint}`),
    rescueLine(phases),
    `Failed before content: ${failures.length === 0 ? 'none.' : ''}`.trimEnd(),
    ...failures.map((failure) => `  ${failure}`),
    statusLine(spans, result.hitChannels),
    `Attempts: ${attempts} in the ledger; ${requestsReceived} requests came to the simulators.`,
    `Gateway: ${((100 * cpuMs) / loadMs).toFixed(0)} % of a core, ${cpuUsPerCall(result).toFixed(0)} µs of CPU per call.`,
    ...(otherCpuUs === null ? [] : [againstLine(cpuUsPerCall(result), otherCpuUs)]),
    `Callers: at most ${worstLagMs.toFixed(0)} ms behind their schedule, on ${cpus().length} cores shared by everything.`,
  ];
}

function statusLine(spans: readonly ToldSpan[], hitChannels: ReadonlySet<string>): string {
  const failing = spans.filter(({ worst }) => worst !== 'degraded').map(({ subject }) => subject);
  const [models, channels] = [
    failing.filter((each) => each.startsWith('model ')),
    new Set(failing.filter((each) => each.startsWith('channel '))),
  ];
  return `Status page, from these calls alone: ${models.length} outages of models; ${channels.size} channels with outages, of ${hitChannels.size} that were hit.`;
}

function rescueLine(phases: readonly PhaseFigures[]): string {
  const rescued = phases.reduce((sum, figures) => sum + figures.rescued, 0);
  const broken = phases.reduce((sum, figures) => sum + figures.cut, rescued);
  const share = broken === 0 ? 'none' : percent(rescued / broken);
  return `Streams that broke off after content: ${broken}; ended whole all the same: ${rescued} (${share}).`;
}

function againstLine(cpuUs: number, otherCpuUs: number): string {
  const share = cpuUs / otherCpuUs;
  const isMet = share <= shareOfOtherMax ? 'met' : 'MISSED';
  return `The other version: ${otherCpuUs.toFixed(0)} µs per call; this one takes ${share.toFixed(2)} of it, ${shareOfOtherMax} wanted: ${isMet}.`;
}

function verdict({ result, phases, broken }: Judged): string {
  const worst = Math.min(...phases.map(successOf));
  const figures = `${result.calls.length} calls, success ${percent(worst)} in the worst phase`;
  return broken.length === 0
    ? `live proof: all gates hold, ${figures}`
    : `live proof: ${broken.length} gates broken, ${figures}`;
}

function rounded(milliseconds: number | null): string {
  return milliseconds === null ? '–' : milliseconds.toFixed(0);
}
