import { type Row, regretOf } from './gates.ts';
import type { Result } from './measure.ts';

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

/** Mean and worst regret of each policy over all scenes. */
export function summaryOf(rows: readonly Row[]): string {
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
export function verdictOf(rows: readonly Row[], broken: readonly string[]): string {
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

/** What is kept in docs/routing-results.md. `planningUs`: to plan one call over sixty channels. */
export function documentOf(rows: readonly Row[], broken: readonly string[], planningUs: number): string {
  return `# What routing does in simulation

Written by \`npm run simulate\`: the router of the gateway, unchanged, against baselines and an oracle that knows the true
state of every channel. Regret: cost, waiting (5 % of a mean call per second) and failures (five mean calls) above the
oracle's. Ejected channels are probed by synthetic calls of one token; attempts in the table are those of callers.

Planning a call over sixty channels of one model: ${planningUs.toFixed(0)} µs.

${summaryOf(rows)}

${broken.length === 0 ? 'All gates hold.' : ['Broken gates:', '', ...broken.map((each) => `- ${each}`)].join('\n')}

${tableOf(rows)}
`;
}
