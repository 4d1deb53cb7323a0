import { cpus, loadavg } from 'node:os';
import type { Figures, Pace } from './run.ts';

/** What one gateway did in all scenes. */
export interface Standing {
  readonly gateway: string;
  readonly figures: readonly Figures[];
}

const titles = [
  'the preferred upstream gives',
  'gateway',
  'whole %',
  'passed off',
  'first word p50 ms',
  'p99 ms',
  'attempts per call',
  'back after s',
] as const;

const timeColumns: readonly string[] = ['first word p50 ms', 'p99 ms'];

/** Where others want the cores as well, milliseconds say who got one, and would be unfair to whoever needs more of them. */
function isQuiet(): boolean {
  return (loadavg()[2] ?? 0) <= cpus().length;
}

/** A table in Markdown: each scene, and in it each gateway; times only where the machine has been quiet. */
export function table(standings: readonly Standing[]): string {
  const isTimed = isQuiet();
  const isKept = (_: string, column: number) => isTimed || !timeColumns.includes(titles[column] ?? '');
  const scenes = standings[0]?.figures.map(({ scene }) => scene) ?? [];
  const rows = scenes.flatMap((scene) =>
    standings.map(({ gateway, figures }, place) => {
      const its = figures.find((each) => each.scene === scene);
      return [place === 0 ? scene.title : '', gateway, ...(its === undefined ? [] : cellsOf(its))];
    }),
  );
  const all = standings.map(({ gateway, figures }) => [`all faults`, gateway, ...cellsOf(sumOf(figures))]);
  return [titles, titles.map(() => '---'), ...rows, ...all]
    .map((cells) => `| ${cells.filter(isKept).join(' | ')} |`)
    .join('\n');
}

function cellsOf(its: Figures): readonly string[] {
  return [
    ((100 * its.whole) / its.calls).toFixed(0),
    String(its.passedOff),
    milliseconds(its.firstP50Ms),
    milliseconds(its.firstP99Ms),
    its.attemptsPerCall.toFixed(2),
    its.recoveryMs === null ? 'not' : (its.recoveryMs / 1000).toFixed(1),
  ];
}

/** All calls that met a fault; of times the worst scene's, as a caller meets one at a time. */
function sumOf(figures: readonly Figures[]): Figures {
  const faulty = figures.filter(({ scene }) => scene.fault !== '');
  const [first] = faulty;
  if (first === undefined) throw new Error('there is no scene with a fault');
  const sum = (of: (its: Figures) => number) => faulty.reduce((total, its) => total + of(its), 0);
  const worst = (of: (its: Figures) => number | null) => Math.max(0, ...faulty.map((its) => of(its) ?? 0));
  return {
    scene: first.scene,
    calls: sum(({ calls }) => calls),
    whole: sum(({ whole }) => whole),
    passedOff: sum(({ passedOff }) => passedOff),
    firstP50Ms: worst(({ firstP50Ms }) => firstP50Ms),
    firstP99Ms: worst(({ firstP99Ms }) => firstP99Ms),
    attemptsPerCall: sum((its) => its.attemptsPerCall * its.calls) / sum(({ calls }) => calls),
    recoveryMs: faulty.some(({ recoveryMs }) => recoveryMs === null)
      ? null
      : worst(({ recoveryMs }) => recoveryMs),
  };
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : value.toFixed(0);
}

export function document(
  standings: readonly Standing[],
  pace: Pace,
  command: string,
  versions: readonly string[],
): string {
  const calls = (pace.callsPerSecond * pace.faultMs) / 1000;
  return `# What gateways do while their preferred upstream fails

Written by \`${command}\`: every scene has a model of its own with two upstreams, one preferred and a healthy one behind it, simulated
on this machine. After ${pace.warmUpCalls} calls the preferred one fails in one way for ${pace.faultMs / 1000} s, while ${calls} calls come, ${pace.callsPerSecond} a second,
whatever becomes of those before; three scenes at a time. Then it is mended. An answer has ${'12'} or 14 words, by which a caller knows who gave it and
whether it is all; it is begun after 50 ms and told in some 120 more.

${table(standings)}

* *Whole*: calls that got a complete answer and its end within 20 s. *Passed off*: calls whose answer ended as if it were complete
  and was not. Times to the first word, of calls that ended whole, are left out where other work shares the machine.
* *Attempts*: requests that came to both upstreams, for each call; a gateway's own probes are among them.
* *Back*: from the mending until five calls in a row are the preferred upstream's; \`not\`: not within ${pace.recoveryMsMax / 1000} s.
* The last rows are of all scenes with a fault: sums of calls, and of times the worst scene's.

## Who was asked

${versions.map((version) => `* ${version}`).join('\n')}

All at once, each with upstreams of its own, on ${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown kind'}. Every gateway is set up as its own documentation has it for
retries and fallbacks; \`tools/faults/gateways.ts\` has each of the recipes. Another one is measured with
\`npm run fault-bench -- --gateway http://127.0.0.1:4000 --key KEY --first-port 21000\`; \`--ports\` prints which upstreams its models
must have.
`;
}
