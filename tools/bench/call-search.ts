import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallQuery } from '../../packages/gateway/src/ports/call-search.ts';
import { openSqliteStore } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { quantile } from '../harness/statistics.ts';
import { textTable } from '../harness/text-table.ts';
import { busyKey, makeSums, makeUsageStore, quietKey, rareModel, usualModel } from './usage-store.ts';

/**
 * Prints how long the first page and the totals of filters of the console's ledger take on a large store, and its overview. Fails where a page or
 * an overview takes longer than 150 ms in the median.
 *
 *     node tools/bench/call-search.ts [calls] [directory of a store to keep, or one that was kept]
 */
const count = Number(process.argv[2] ?? 1_000_000);
const kept = process.argv[3];
const medianMsMax = 150;
const times = 11;
const dayMs = 86_400_000;

const account = { accountIds: ['account-1'] };
const questions: Readonly<Record<string, Partial<CallQuery>>> = {
  everything: {},
  'own account': account,
  'other account': { accountIds: ['nobody'] },
  'busy key': { keyId: busyKey },
  'quiet key': { keyId: quietKey },
  'quiet key that failed': { keyId: quietKey, status: 'failed' },
  'usual model': { model: usualModel },
  'rare model': { model: rareModel },
  'no such model': { model: 'nothing' },
  'rare model that failed': { model: rareModel, status: 'failed' },
  failed: { status: 'failed' },
  interrupted: { status: 'interrupted' },
  'not billed': { billed: false },
  'reason that nothing has': { reason: 'zero_completion' },
  'error that nothing has': { errorCode: 'overloaded' },
  'other surface': { surface: 'messages' },
  'other channel': { channelId: 'nothing' },
  'no such tag': { tag: 'nothing' },
  'a day of failures': { status: 'failed', fromMs: Date.now() - 60 * dayMs, toMs: Date.now() - 59 * dayMs },
  'key and model': { keyId: quietKey, model: rareModel },
  ...{
    'beginning of a trace id': {
      trace: (Date.now() - 30 * dayMs).toString(16).padStart(12, '0').slice(0, 7),
    },
  },
};

interface Figure {
  readonly question: string;
  readonly rows: string;
  readonly pageMs: readonly number[];
  readonly totalsMs: readonly number[];
}

const columns = {
  rows: ({ rows }: Figure) => rows,
  'page ms': ({ pageMs }: Figure) => quantile(pageMs, 0.5).toFixed(1),
  'worst ms': ({ pageMs }: Figure) => Math.max(...pageMs).toFixed(1),
  'totals ms': ({ totalsMs }: Figure) => (totalsMs.length === 0 ? '' : quantile(totalsMs, 0.5).toFixed(1)),
  filter: ({ question }: Figure) => question,
};

await main();

async function main(): Promise<void> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'headgate-calls-bench-'));
  try {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, 'headgate.sqlite');
    if (!existsSync(file)) makeUsageStore(file, count, (calls) => process.stdout.write(`\r${calls} calls`));
    makeSums(file);
    const figures = await measure(file);
    for (const line of textTable(columns, figures)) console.log(line);
    const isQuick = figures.every(({ pageMs }) => quantile(pageMs, 0.5) <= medianMsMax);
    console.log(isQuick ? `every median is within ${medianMsMax} ms` : `a median is above ${medianMsMax} ms`);
    process.exitCode = isQuick ? 0 : 1;
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true });
  }
}

async function measure(file: string): Promise<readonly Figure[]> {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: console.error });
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const since = performance.now();
    await work();
    return performance.now() - since;
  };
  const figures: Figure[] = [];
  for (const [question, asked] of Object.entries(questions)) {
    const query = { fromMs: 0, ...asked };
    const page = await store.search.page(query, 50, null);
    const { calls, isWhole } = await store.search.totals(query);
    const [pageMs, totalsMs]: [number[], number[]] = [[], []];
    for (let time = 0; time < times; time++) {
      pageMs.push(await timed(() => store.search.page(query, 50, null)));
      totalsMs.push(await timed(() => store.search.totals(query)));
    }
    const rows = `${page.records.length}${page.searchedToMs === null ? '' : '…'} of ${calls}${isWhole ? '' : '+'}`;
    figures.push({ question, rows, pageMs, totalsMs });
  }
  for (const [days, stepMs] of [
    [1, dayMs / 24],
    [7, dayMs / 4],
    [30, dayMs],
  ] as const) {
    const toMs = Math.ceil(Date.now() / stepMs) * stepMs;
    const lengthMs = days * dayMs;
    const period = { fromMs: toMs - lengthMs, toMs, stepMs };
    const before = {
      ...{ fromMs: toMs - 2 * lengthMs, toMs: toMs - lengthMs, stepMs: lengthMs, isSumOnly: true },
    };
    // Both that the page needs: the time, and the sum of the one before.
    const overview = () =>
      Promise.all([store.overviews.overview(null, period), store.overviews.overview(null, before)]);
    const [{ steps }] = await overview();
    const pageMs: number[] = [];
    for (let time = 0; time < times; time++) pageMs.push(await timed(overview));
    figures.push({
      question: `overview of ${days} days`,
      rows: `${steps.length} steps`,
      pageMs,
      totalsMs: [],
    });
  }
  await store.close();
  return figures;
}
