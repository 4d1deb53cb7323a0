/**
 * Prints how much longer a fair caller waits while four connections do their worst: for each flood the median, over several rounds, of the
 * caller's p99 under it, divided by that of the same round before it.
 *
 *     npm run fairness -- [--rounds 5] [--calls 300] [--only WORDS]
 */
import { parseArgs } from 'node:util';
import { type FairSite, openFairSite } from '../../test/support/fair-site.ts';
import { type FloodKind, keyHolders, strangers } from '../../test/support/floods.ts';
import { median, quantile, quotients } from '../harness/statistics.ts';
import { textTable } from '../harness/text-table.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '300' },
    only: { type: 'string', default: '' },
  },
});

/** Other callers' p99 stays below so many times its idle value. */
const ratioMax = 3;

interface Row {
  readonly name: string;
  readonly idleMs: number;
  readonly floodedMs: number;
  readonly medianRatio: number;
  readonly p99Ratio: number;
}

async function main(): Promise<number> {
  await using site = await openFairSite();
  const rows: Row[] = [];
  for (const [name, kind] of floodsOf(site)) {
    const row = await rowOf(site, name, kind);
    console.error(`${name}: ${row.p99Ratio.toFixed(2)}`);
    rows.push(row);
  }
  const columns = {
    flood: ({ name }: Row) => name,
    'idle p99 ms': ({ idleMs }: Row) => idleMs.toFixed(2),
    'flooded p99 ms': ({ floodedMs }: Row) => floodedMs.toFixed(2),
    'ratio of p50': ({ medianRatio }: Row) => medianRatio.toFixed(2),
    'ratio of p99': ({ p99Ratio }: Row) => p99Ratio.toFixed(2),
  };
  console.log(textTable(columns, rows).join('\n'));
  const unfair = rows.filter(({ p99Ratio }) => p99Ratio > ratioMax);
  console.log(unfair.length === 0 ? 'fairness: all hold' : `fairness: ${unfair.length} over ${ratioMax}`);
  return unfair.length === 0 ? 0 : 1;
}

function floodsOf({ key }: FairSite): readonly (readonly [string, FloodKind])[] {
  const all = [...strangers, ...keyHolders.map(([name, kindOf]) => [name, kindOf(key)] as const)];
  return all.filter(([name]) => name.includes(options.only));
}

async function rowOf(site: FairSite, name: string, kind: FloodKind): Promise<Row> {
  const rounds: { readonly idleMs: readonly number[]; readonly floodedMs: readonly number[] }[] = [];
  for (let round = 0; round < Number(options.rounds); round++)
    rounds.push(await site.measure(kind, Number(options.calls)));
  const ofRounds = (side: 'idleMs' | 'floodedMs', share: number) =>
    rounds.map((round) => quantile(round[side], share));
  const [idle, flooded] = [ofRounds('idleMs', 0.99), ofRounds('floodedMs', 0.99)];
  return {
    name,
    idleMs: median(idle),
    floodedMs: median(flooded),
    medianRatio: median(quotients(ofRounds('floodedMs', 0.5), ofRounds('idleMs', 0.5))),
    p99Ratio: median(quotients(flooded, idle)),
  };
}

process.exitCode = await main();
