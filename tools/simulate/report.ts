import { attemptsPerCallMax, type Row, regretOf } from './gates.ts';
import type { Result } from './measure.ts';
import type { RoutingTime } from './planning-time.ts';

const columns = [
  'scenario',
  'calls/s',
  'policy',
  'success %',
  'cost ÷ oracle',
  'TTFT p50 s',
  'TTFT p99 s',
  'attempts/call',
  'in the window',
  'on refusing',
  'on hung',
  'probes',
  'regret %',
] as const;

/** Every policy in every scene, one line each. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.flatMap((row) =>
    policiesOf(row).map(([name, result]) => `| ${cellsOf(row, name, result).join(' | ')} |`),
  );
  return [`| ${columns.join(' | ')} |`, `|${columns.map(() => '---').join('|')}|`, ...lines].join('\n');
}

/** Mean and worst regret of each policy over all scenes that must hold. */
export function summaryOf(all: readonly Row[]): string {
  const rows = all.filter(({ isGated }) => isGated);
  const names = rows[0] === undefined ? [] : policiesOf(rows[0]).map(([name]) => name);
  const lines = names.map((name) => {
    const regrets = rows.flatMap((row) =>
      policiesOf(row)
        .filter(([other]) => other === name)
        .map(([, result]) => regretOf(result, row.oracle)),
    );
    const mean = regrets.reduce((sum, regret) => sum + regret, 0) / regrets.length;
    return `| ${name} | ${mean.toFixed(1)} | ${Math.max(...regrets).toFixed(1)} |`;
  });
  return ['| policy | mean regret % | worst |', '|---|---|---|', ...lines].join('\n');
}

/** The one line at the end. */
export function verdictOf(all: readonly Row[], broken: readonly string[]): string {
  const rows = all.filter(({ isGated }) => isGated);
  const regrets = rows.map((row) => regretOf(row.headgate, row.oracle));
  const mean = regrets.reduce((sum, regret) => sum + regret, 0) / regrets.length;
  const figures = `mean regret ${mean.toFixed(1)} %, worst ${Math.max(...regrets).toFixed(1)} %`;
  return broken.length === 0
    ? `routing: all gates hold in ${rows.length} scenes, ${figures}`
    : `routing: ${broken.length} gates broken in ${rows.length} scenes, ${figures}`;
}

function policiesOf({ headgate, baselines, oracle }: Row): readonly (readonly [string, Result])[] {
  return [['headgate', headgate], ...Object.entries(baselines), ['oracle', oracle]];
}

function cellsOf(
  { scenario, load, oracle }: Row,
  name: string,
  result: Result,
): readonly (string | number)[] {
  return [
    scenario,
    load,
    name,
    (100 * result.success).toFixed(2),
    (result.costPerSuccess / oracle.costPerSuccess).toFixed(3),
    (result.p50Ms / 1000).toFixed(2),
    (result.p99Ms / 1000).toFixed(2),
    result.attemptsPerCall.toFixed(3),
    result.attemptsInWindow.toFixed(2),
    result.onRefusing,
    result.onHung,
    result.probes,
    regretOf(result, oracle).toFixed(1),
  ];
}

/** The cost of routing a call, by the number of channels its model has. */
export function timesOf(times: readonly RoutingTime[]): string {
  const alone = times[0]?.callUs ?? 0;
  const lines = times.map(({ channels, callUs, probingMs }) => {
    const cells = [channels, callUs.toFixed(1), (callUs - alone).toFixed(1), probingMs.toFixed(2)];
    return `| ${cells.join(' | ')} |`;
  });
  const head = '| channels | µs per call | more than with one | ms per look for probes |';
  return [head, '|---|---|---|---|', ...lines].join('\n');
}

/** The page docs/routing-results.md. */
export function documentOf(
  rows: readonly Row[],
  broken: readonly string[],
  times: readonly RoutingTime[],
): string {
  return `# What routing does in simulation

Written by \`npm run simulate\`: the router of the gateway, unchanged, against baselines and an oracle that knows the true
state of every channel. Regret: cost, waiting (5 % of a mean call per second) and failures (five mean calls) above the
oracle's. Ejected channels, and those nobody asks though they might be worth it, are probed by synthetic calls of one
token, which are counted apart: attempts in the table are those of callers.

${summaryOf(rows)}

Routing a call (plan, attempt, its end, the plan in words), by the number of channels of its model:

${timesOf(times)}

${broken.length === 0 ? 'All gates hold.' : ['Broken gates:', '', ...broken.map((each) => `- ${each}`)].join('\n')}

## How the gates are read

Twenty minutes with something happening in the middle; ten seeds, but sixty at 0.3 calls/s, where ten would make a margin
of three calls, and twenty of the held-out family. Success, cost and waiting are those of all seeds together, attempts on a
dead channel those of the worst one. Two readings are laxer than the letter:

- **Channels are as wide as 15 calls/s need, and at 100 calls/s as much wider.** As they are they take 103 calls/s in all: at
  100 the oracle itself loses calls in every scene. What comes of it is at the end of the table ("100, narrow", one seed).
- **Attempts per call: ${attemptsPerCallMax}, or as many as the oracle makes.** At 100 calls/s the run is 500 s, most of them in trouble.
${moreAttempts(rows)}

## All figures

${tableOf(rows)}
`;
}

function moreAttempts(rows: readonly Row[]): string {
  const above = rows.filter(
    ({ isGated, headgate }) => isGated && headgate.attemptsPerCall > attemptsPerCallMax,
  );
  if (above.length === 0) return '  No scene needed it.';
  return above
    .map(({ scenario, load, headgate, oracle }) => {
      const [ours, its] = [headgate.attemptsPerCall.toFixed(3), oracle.attemptsPerCall.toFixed(3)];
      return `  ${scenario} at ${load}: ${ours}, the oracle ${its}.`;
    })
    .join('\n');
}
