// `npm run bench`: Headgate beside nginx and the least that Node can do, in one run, on pinned cores.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { loadCore, pinningObstacle, pinRunning, serverCore } from '../harness/pinned-process.ts';
import { startScript } from './bench-script.ts';
import { FixedUpstream } from './fixed-upstream.ts';
import { startHeadgate } from './headgate.ts';
import { compareLanes, type LaneCase, type LanePlan } from './lane-comparison.ts';
import { compareUnderLoad, type LoadCase, type LoadFigures, type LoadPlan } from './load-comparison.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { makeReport, printableReport } from './report.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { stayAwake } from './stay-awake.ts';
import {
  compareStreams,
  frameRate,
  idleMemory,
  type StreamFigures,
  type StreamPlan,
} from './stream-comparison.ts';
import { type WarmUpPlan, warmUp } from './warm-up.ts';

const usage = `npm run bench -- [options]
  --quick        fewer and shorter windows; about a minute in all
  --json FILE    also write every figure to FILE
  --servers a,b  of nginx, bare-proxy, headgate, headgate-soon; all if left out`;

interface BenchPlan {
  readonly warmUp: WarmUpPlan;
  readonly load: readonly (readonly [LoadCase, LoadPlan])[];
  readonly streams: readonly StreamPlan[];
  /** Measured last: what large bodies leave in a process's memory would count as the streams'. */
  readonly largeLoad: readonly (readonly [LoadCase, LoadPlan])[];
  /** In a gateway of their own, when the others have stopped. */
  readonly lanes: LanePlan;
}

/** The case that the ratios are taken from. */
const mainCase: LoadCase = { bodyBytes: 1_500, concurrency: 32 };
const singleCase: LoadCase = { bodyBytes: 1_500, concurrency: 1 };
const largeCase: LoadCase = { bodyBytes: 1_000_000, concurrency: 32 };
const largeSingleCase: LoadCase = { bodyBytes: 1_000_000, concurrency: 1 };

const mainLanes: readonly LaneCase[] = [
  { surface: 'chat-completions', upstream: 'chat-completions' },
  { surface: 'messages', upstream: 'messages' },
  { surface: 'messages', upstream: 'chat-completions' },
  { surface: 'chat-completions', upstream: 'messages' },
];
const otherLanes: readonly LaneCase[] = [
  { surface: 'responses', upstream: 'responses' },
  { surface: 'generate-content', upstream: 'generate-content' },
  { surface: 'responses', upstream: 'chat-completions' },
  { surface: 'responses', upstream: 'messages' },
  { surface: 'messages', upstream: 'responses' },
  { surface: 'chat-completions', upstream: 'generate-content' },
  { surface: 'generate-content', upstream: 'chat-completions' },
];

const fullLoad: LoadPlan = { settleMs: 500, windows: 5, windowMs: 1_000 };
const fullPlan: BenchPlan = {
  warmUp: { calls: 40_000, durationMsMax: 25_000 },
  load: [
    [mainCase, { ...fullLoad, windows: 10 }],
    [singleCase, fullLoad],
  ],
  streams: [500, 1_000, 2_000].map((streams) => ({
    streams,
    rounds: 3,
    settleMs: 1_000,
    durationMs: 2_000,
  })),
  largeLoad: [
    [largeCase, fullLoad],
    [largeSingleCase, fullLoad],
  ],
  lanes: {
    cases: [...mainLanes, ...otherLanes],
    rounds: 5,
    warmUpCalls: 100,
    calls: 20,
    streams: 5,
    frames: 2_000,
  },
};

const quickLoad: LoadPlan = { settleMs: 100, windows: 2, windowMs: 200 };
const quickPlan: BenchPlan = {
  warmUp: { calls: 30_000, durationMsMax: 8_000 },
  load: [
    [mainCase, { ...quickLoad, windows: 5 }],
    [singleCase, quickLoad],
  ],
  streams: [{ streams: 500, rounds: 1, settleMs: 500, durationMs: 1_000 }],
  largeLoad: [[largeSingleCase, quickLoad]],
  lanes: { cases: mainLanes, rounds: 2, warmUpCalls: 60, calls: 10, streams: 3, frames: 2_000 },
};

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
  const upstream = await FixedUpstream.start(frameRate);
  const maySleep = stayAwake();
  const servers = await startServers(upstream, names);
  progress('warming up');
  const warmth = await warmUp(servers, plan.warmUp);
  const load = await compareLoads(servers, plan.load);
  const idleKib = idleMemory(servers);
  const streams: StreamFigures[] = [];
  for (const one of plan.streams) {
    progress(`${one.streams} streams`);
    streams.push(...(await compareStreams(servers, upstream, one, idleKib)));
  }
  load.push(...(await compareLoads(servers, plan.largeLoad)));
  for (const server of servers) await server.stop();
  // The upstream goes last: those who still close streams should not see it vanish.
  upstream.stop();
  progress('translation');
  const lanes = await compareLanes(plan.lanes);
  maySleep();
  const report = makeReport({ load, streams, lanes, notes: [...notes(), warmth] });
  console.log(printableReport(report));
  if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
}

async function compareLoads(
  servers: readonly ServerUnderTest[],
  cases: BenchPlan['load'],
): Promise<LoadFigures[]> {
  const load: LoadFigures[] = [];
  for (const [one, windows] of cases) {
    progress(`${one.bodyBytes / 1000} KB bodies, ${one.concurrency} at once`);
    load.push(...(await compareUnderLoad(servers, one, windows)));
  }
  return load;
}

/** The upstream itself comes first: everything else is compared with it. */
async function startServers(upstream: FixedUpstream, names: readonly string[]): Promise<ServerUnderTest[]> {
  const servers: ServerUnderTest[] = [
    { name: 'direct', port: upstream.port, key: 'unused', pid: null, stop: () => Promise.resolve() },
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
