import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, plainRouting } from '../../packages/gateway/src/catalogue/catalogue.ts';
import { noLimits } from '../../packages/gateway/src/catalogue/limits.ts';
import { ReportDesk } from '../../packages/gateway/src/http/report-desk.ts';
import { openSqliteStore } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { quantile } from '../harness/statistics.ts';
import { textTable } from '../harness/text-table.ts';
import { busyKey, makeUsageStore, quietKey, rareModel, usualModel } from './usage-store.ts';

/**
 * Prints how long `GET /v1/usage` takes on a large store, for its busiest key and for a quiet one, with and without filters: the first time
 * that its part of the file is read from the disk, and then twenty times more. Fails where the median is above 50 ms.
 *
 *     node tools/bench/usage.ts [calls] [directory of a store to keep, or one that was kept]
 */
const count = Number(process.argv[2] ?? 10_000_000);
const kept = process.argv[3];
const medianMsMax = 50;
const times = 20;

const range = 'days=90&timezone=Europe/Berlin';
const questions: readonly string[] = [
  '',
  'days=90',
  range,
  'days=90&timezone=Asia/Kathmandu',
  `${range}&limit=200`,
  `${range}&model=${usualModel}`,
  `${range}&model=${rareModel}`,
  `${range}&model=nothing`,
  `${range}&billed=false`,
  `${range}&status=failed&model=model-3`,
  `${range}&status=interrupted`,
  `${range}&format=csv`,
];

interface Figure {
  readonly key: string;
  readonly question: string;
  readonly firstMs: number;
  readonly againMs: readonly number[];
}

const columns = {
  key: ({ key }: Figure) => key,
  'first ms': ({ firstMs }: Figure) => firstMs.toFixed(1),
  'median ms': ({ againMs }: Figure) => quantile(againMs, 0.5).toFixed(1),
  'worst ms': ({ againMs }: Figure) => Math.max(...againMs).toFixed(1),
  'GET /v1/usage?': ({ question }: Figure) => question,
};

await main();

async function main(): Promise<void> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'headgate-usage-bench-'));
  try {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, 'headgate.sqlite');
    if (!existsSync(file)) make(file);
    const figures = await measure(file);
    for (const line of textTable(columns, figures)) console.log(line);
    const isFlat = figures.every(({ againMs }) => quantile(againMs, 0.5) <= medianMsMax);
    console.log(isFlat ? `every median is within ${medianMsMax} ms` : `a median is above ${medianMsMax} ms`);
    process.exitCode = isFlat ? 0 : 1;
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true });
  }
}

function make(file: string): void {
  const since = performance.now();
  makeUsageStore(file, count, (calls) => process.stdout.write(`\r${calls} calls`));
  const seconds = Math.round((performance.now() - since) / 1000);
  console.log(`\rmade ${count} calls in ${seconds} s, ${Math.round(statSync(file).size / 1e6)} MB`);
}

async function measure(file: string): Promise<readonly Figure[]> {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: console.error });
  const desk = new ReportDesk(
    { reports: store.reports, holds: { standings: () => Promise.resolve([]) } },
    clock,
  );
  const ask = async (question: string, key: string): Promise<number> => {
    const since = performance.now();
    const answer = await desk.usage(question, callerOf(key), console.error);
    if (!answer.ok) throw new Error(answer.error.message);
    return performance.now() - since;
  };
  // The thread that makes reports starts with the first of them.
  await ask(`trace_id=${'0'.repeat(32)}`, 'nobody');
  const figures: Figure[] = [];
  for (const key of [busyKey, quietKey]) {
    for (const question of questions) {
      forget(file);
      const firstMs = await ask(question, key);
      const againMs: number[] = [];
      for (let time = 0; time < times; time++) againMs.push(await ask(question, key));
      figures.push({ key, question, firstMs, againMs });
    }
  }
  await store.close();
  return figures;
}

/** Has the system forget what it keeps of the file in memory, where it has a command for that. The store's own 16 MB remain. */
function forget(file: string): void {
  if (process.platform === 'linux')
    execFileSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']);
}

function callerOf(keyId: string): Caller {
  const group = {
    ...({ id: 'team', name: 'Team', platform: 'completions', multiplierPpm: 1_000_000n } as const),
    ...{ models: null, routing: plainRouting },
  };
  return {
    ...{
      keyId,
      keyName: keyId,
      accountId: 'account',
      group,
      models: null,
      strict: false,
      addressRanges: null,
    },
    ...{ createdAtMs: 0, expiresAtMs: null, limits: noLimits, multipliers: null },
  };
}
