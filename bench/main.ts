// `npm run bench`: Headgate beside nginx and the least that Node can do, in one run, on pinned cores.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startHeadgate } from './headgate.ts';
import { compareUnderLoad, type LoadCase, type LoadFigures, type LoadPlan } from './load-comparison.ts';
import { hasNginx, startNginx } from './nginx.ts';
import {
  type BenchScript,
  loadCore,
  pinningObstacle,
  pinRunning,
  serverCore,
  startScript,
} from './pinned-process.ts';
import { makeReport, printableReport } from './report.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { compareStreams, frameRate, idleMemory, type StreamFigures } from './stream-comparison.ts';
import type { StreamLoad } from './stream-load.ts';

const usage = `npm run bench -- [options]
  --quick        fewer and shorter windows; under 50 seconds in all
  --json FILE    also write every figure to FILE
  --servers a,b  of nginx, bare-proxy, headgate, headgate-soon; all if left out`;

interface BenchPlan {
  readonly load: readonly (readonly [LoadCase, LoadPlan])[];
  readonly streams: readonly StreamLoad[];
}

/** The case that the ratios are taken from. */
const mainCase: LoadCase = { bodyBytes: 1_500, concurrency: 32 };
const otherCases: readonly LoadCase[] = [
  { bodyBytes: 1_500, concurrency: 1 },
  { bodyBytes: 1_000_000, concurrency: 32 },
  { bodyBytes: 1_000_000, concurrency: 1 },
];

const fullPlan: BenchPlan = loadPlan(
  { warmUpMs: 3_000, windows: 10, windowMs: 1_000 },
  { warmUpMs: 1_000, windows: 5, windowMs: 1_000 },
  [500, 1_000, 2_000].map((streams) => ({ streams, settleMs: 1_500, durationMs: 5_000 })),
);

const quickPlan: BenchPlan = loadPlan(
  { warmUpMs: 1_000, windows: 5, windowMs: 200 },
  { warmUpMs: 150, windows: 2, windowMs: 200 },
  [{ streams: 500, settleMs: 500, durationMs: 1_000 }],
);

function loadPlan(main: LoadPlan, other: LoadPlan, streams: readonly StreamLoad[]): BenchPlan {
  return { load: [[mainCase, main], ...otherCases.map((one) => [one, other] as const)], streams };
}

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    servers: { type: 'string', default: 'nginx,bare-proxy,headgate,headgate-soon' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) console.log(usage);
else await runBenchmark(options.quick ? quickPlan : fullPlan, options.servers.split(','), options.json);

async function runBenchmark(
  plan: BenchPlan,
  names: readonly string[],
  jsonFile: string | undefined,
): Promise<void> {
  pinRunning(process.pid, loadCore);
  const upstream = await startScript(loadCore, './fixed-upstream.ts', String(frameRate));
  const servers = await startServers(upstream, names);
  const idleKib = idleMemory(servers);
  const load: LoadFigures[] = [];
  for (const [one, windows] of plan.load) {
    progress(`${one.bodyBytes / 1000} KB bodies, ${one.concurrency} at once`);
    load.push(...(await compareUnderLoad(servers, one, windows)));
  }
  const streams: StreamFigures[] = [];
  for (const one of plan.streams) {
    progress(`${one.streams} streams`);
    streams.push(...(await compareStreams(servers, upstream, one, idleKib)));
  }
  // The upstream, first in the list, goes last: those who still close streams should not see it vanish.
  for (const server of servers.toReversed()) await server.stop();
  const report = makeReport(load, streams, notes());
  console.log(printableReport(report));
  if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
}

/** The upstream itself comes first: everything else is compared with it. */
async function startServers(upstream: BenchScript, names: readonly string[]): Promise<ServerUnderTest[]> {
  const servers: ServerUnderTest[] = [
    { name: 'direct', port: upstream.port, key: 'unused', pid: null, stop: upstream.stop },
  ];
  if (names.includes('nginx') && hasNginx()) servers.push(await startNginx(upstream.port));
  if (names.includes('bare-proxy')) {
    const proxy = await startScript(serverCore, './bare-proxy.ts', `http://127.0.0.1:${upstream.port}`);
    servers.push({ name: 'bare-proxy', port: proxy.port, key: 'unused', pid: proxy.pid, stop: proxy.stop });
  }
  if (names.includes('headgate')) servers.push(await startHeadgate(upstream.port, 'strict'));
  if (names.includes('headgate-soon')) servers.push(await startHeadgate(upstream.port, 'soon'));
  return servers;
}

/** What a reader of the figures must know about this machine. */
function notes(): string[] {
  const obstacle = pinningObstacle();
  return [
    ...(obstacle === null ? [] : [`Not pinned to cores: ${obstacle}.`]),
    ...(hasNginx()
      ? []
      : ['nginx is not installed here: its line and its ratio are missing (Debian: apt-get install nginx).']),
  ];
}

function progress(what: string): void {
  console.error(`bench: ${what} …`);
}
