// `npm run bench`: Headgate beside nginx and the least that Node can do, in one run, on pinned cores.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Checkout, checkOut } from '../harness/checkout.ts';
import { loadCore, pinningObstacle, pinRunning } from '../harness/pinned-process.ts';
import { type CallCase, type CallFigures, type CallPlan, compareCalls } from './calls.ts';
import { FixedUpstream } from './fixed-upstream.ts';
import { type Found, smallBodyBytes } from './goals.ts';
import { compareChannels, compareKeys } from './growth.ts';
import { countInsides, hasStrace } from './insides.ts';
import { compareLanes } from './lane-comparison.ts';
import { Callers, LoadMachine, requestOf, textBody } from './load.ts';
import { hasNginx } from './nginx.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { type ProfileLoad, profile, profileLoads } from './profile.ts';
import { makeReport, printableReport } from './report.ts';
import { type ServerChoice, type ServerUnderTest, serverNames, startServers } from './servers.ts';
import { SocketLoop } from './sockets.ts';
import { compareStreams, frameRate, idleMemory, type StreamFigures } from './streams.ts';

const partNames = ['calls', 'bodies', 'streams', 'channels', 'keys', 'insides', 'lanes'] as const;
/** Never measured with the others: a profiled gateway is a slow one. */
const extraParts = profileLoads.map((load) => `profile-${load}` as const);
type PartName = (typeof partNames)[number] | `profile-${ProfileLoad}`;

const usage = `npm run bench -- [options]
  --quick            fewer and shorter windows
  --only a,b         of ${partNames.join(', ')} (all if left out), or ${extraParts.join(', ')}
  --connections a,b  of 1, 32, 256, for the calls; all if left out
  --servers a,b      of ${serverNames.join(', ')}; all if left out
  --against COMMIT   runs that version of the project, too, in the same interleaving
  --json FILE        also writes every figure to FILE
"npm run bench -- --quick --only calls --connections 32 --servers bare-proxy,headgate" takes half a minute.`;

interface Options {
  readonly plan: Plan;
  readonly only: ReadonlySet<PartName>;
  readonly connections: ReadonlySet<number>;
  readonly servers: ServerChoice['names'];
  readonly against: string | null;
  readonly jsonFile: string | null;
}

// An end from outside must take the servers along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const options = readOptions();
if (options === null) console.log(usage);
else await runBenchmark(options);

async function runBenchmark(wanted: Options): Promise<void> {
  pinRunning(process.pid, loadCore);
  const checkout = wanted.against === null ? null : await checkOut(wanted.against);
  try {
    const found = await measure(wanted, checkout);
    const report = makeReport(found, notes(wanted));
    console.log(printableReport(report));
    if (wanted.jsonFile !== null) {
      await writeFile(wanted.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
      console.log(`\nEvery figure: ${wanted.jsonFile}`);
    }
  } finally {
    checkout?.remove();
  }
}

async function measure(wanted: Options, checkout: Checkout | null): Promise<Found> {
  const { plan, only } = wanted;
  const loop = new SocketLoop();
  const upstream = new FixedUpstream(loop, frameRate);
  const machine = new LoadMachine(loop, upstream);
  const stopServing = machine.serveBeside();
  const run = async <Figures>(part: PartName, what: string, figures: () => Promise<Figures[]>) => {
    if (!only.has(part)) return [];
    progress(what);
    return figures();
  };
  try {
    const beside = await measureBeside(machine, wanted, checkout);
    return {
      ...beside,
      growth: [
        ...(await run('channels', 'many channels', () => compareChannels(machine, plan.channels))),
        ...(await run('keys', 'many keys', () => compareKeys(machine, plan.keys))),
      ],
      insides: await run('insides', 'allocations, system calls', () =>
        countInsides(machine, checkout, plan.insides),
      ),
      profile: [
        ...(await run('profile-calls', 'profile of calls', () => profile(machine, 'calls', plan.profile))),
        ...(await run('profile-text', 'profile of text', () => profile(machine, 'text', plan.profile))),
        ...(await run('profile-dense', 'profile of structure', () =>
          profile(machine, 'dense', plan.profile),
        )),
        ...(await run('profile-streams', 'profile of streams', () =>
          profile(machine, 'streams', plan.profile),
        )),
      ],
      lanes: await run('lanes', 'translation', () => compareLanes(plan.lanes)),
    };
  } finally {
    stopServing();
    upstream.stop();
  }
}

/** The parts in which servers stand beside each other. */
async function measureBeside(
  machine: LoadMachine,
  { plan, only, connections, servers: names }: Options,
  checkout: Checkout | null,
): Promise<Pick<Found, 'calls' | 'streams'>> {
  if (!only.has('calls') && !only.has('bodies') && !only.has('streams')) return { calls: [], streams: [] };
  const servers = await startServers({ names, upstreamPort: machine.upstream.port, checkout });
  try {
    for (const server of servers) warmUp(machine, server, plan);
    const small = [...connections].map((concurrency): [CallCase, CallPlan] => [
      { body: 'text', bodyBytes: smallBodyBytes, concurrency },
      plan.calls,
    ]);
    const calls = only.has('calls') ? compareAll(machine, servers, small) : [];
    const streams = only.has('streams') ? streamsOf(machine, servers, plan) : [];
    // Last: what large bodies leave in a process's memory would count as the streams'.
    const large = only.has('bodies') ? compareAll(machine, servers, plan.bodies) : [];
    return { calls: [...calls, ...large], streams };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/**
 * Calls a server until its code is compiled: V8 goes on compiling a service of some size for about 30,000 calls, on threads of
 * the same process. nginx was compiled before it was installed.
 */
function warmUp(machine: LoadMachine, server: ServerUnderTest, { warmUp: plan }: Plan): void {
  if (server.name === 'nginx' || server.name === 'direct') return;
  progress(`warming up ${server.name}`);
  for (const concurrency of [64, 1]) {
    const callers = new Callers(
      machine,
      server.port,
      [requestOf(server.key, textBody(smallBodyBytes))],
      concurrency,
    );
    const callsMax = concurrency === 1 ? plan.calls / 10 : plan.calls;
    const { requests } = callers.window({ durationMs: plan.durationMsMax, callsMax });
    if (requests < callsMax) progress(`${server.name} had ${requests} calls only: not warm yet`);
    callers.close();
  }
}

function compareAll(
  machine: LoadMachine,
  servers: readonly ServerUnderTest[],
  cases: readonly (readonly [CallCase, CallPlan])[],
): CallFigures[] {
  return cases.flatMap(([one, plan]) => {
    progress(`${one.bodyBytes / 1000} KB of ${one.body}, ${one.concurrency} connections`);
    return compareCalls(machine, servers, one, plan);
  });
}

function streamsOf(machine: LoadMachine, servers: readonly ServerUnderTest[], plan: Plan): StreamFigures[] {
  const idleKib = idleMemory(servers);
  const strict = servers.filter(({ name }) => !name.endsWith('soon'));
  return plan.streams.flatMap((one) => {
    progress(`${one.streams} streams`);
    return compareStreams(machine, strict, one, idleKib);
  });
}

/** Null when only the usage is wanted. */
function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: partNames.join() },
      connections: { type: 'string', default: '32,1,256' },
      servers: { type: 'string', default: serverNames.join() },
      against: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    plan: values.quick ? quickPlan : fullPlan,
    only: new Set(choice(values.only, [...partNames, ...extraParts])),
    connections: new Set(choice(values.connections, ['1', '32', '256']).map(Number)),
    servers: choice(values.servers, serverNames),
    against: values.against ?? null,
    jsonFile: values.json ?? null,
  };
}

/** The words of a list; throws at one that is not of those known. */
function choice<Word extends string>(text: string, known: readonly Word[]): Word[] {
  return text.split(',').map((word) => {
    const found = known.find((one) => one === word);
    if (found === undefined) throw new Error(`"${word}" is none of ${known.join(', ')}.`);
    return found;
  });
}

/** Facts about this machine that a reader of the figures must know. */
function notes({ against }: Options): string[] {
  const obstacle = pinningObstacle();
  return [
    ...(obstacle === null ? [] : [`Not pinned to cores: ${obstacle}.`]),
    ...(hasNginx()
      ? []
      : ['nginx is not installed here: its line and its ratio are missing (Debian: apt-get install nginx).']),
    ...(hasStrace()
      ? []
      : ['strace is not installed here: system calls are not counted (Debian: apt-get install strace).']),
    ...(against === null ? [] : [`"against" is this project at ${against}.`]),
  ];
}

function progress(what: string): void {
  console.error(`bench: ${what} …`);
}
