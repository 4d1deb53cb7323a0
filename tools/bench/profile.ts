// A profile: which files a call's time is spent in, on the main thread.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Callers, denseBody, type LoadMachine, requestOf, textBody } from './load.ts';
import { startHeadgate } from './servers.ts';
import { holdStreams } from './streams.ts';

/** Self time of one file or one function of it, as a share of the time that the thread was not idle. */
export interface ProfileFigures {
  readonly load: ProfileLoad;
  readonly place: string;
  readonly share: number;
}

export interface ProfilePlan {
  readonly warmUpCalls: number;
  readonly warmUpMsMax: number;
  readonly durationMs: number;
}

const connections = 32;
const streams = 1_000;
const bodyBytes = 1_500;
const largeBytes = 1_000_000;
const filesShown = 40;
const functionsShown = 25;

export const profileLoads = ['calls', 'text', 'dense', 'streams'] as const;
/** Small calls, large ones of text or of structure, or streams. */
export type ProfileLoad = (typeof profileLoads)[number];

const bodies: Readonly<Record<Exclude<ProfileLoad, 'streams'>, () => string>> = {
  calls: () => textBody(bodyBytes),
  text: () => textBody(largeBytes),
  dense: () => denseBody(largeBytes),
};

/** Profiles a gateway of its own under one kind of load. */
export async function profile(
  machine: LoadMachine,
  load: ProfileLoad,
  plan: ProfilePlan,
): Promise<ProfileFigures[]> {
  return profiled(load, machine, plan, (port, key) => {
    if (load === 'streams')
      return holdStreams(machine, port, key, { streams, openingMs: 1_000, durationMs: plan.durationMs });
    const count = load === 'calls' ? connections : connections / 4;
    const callers = new Callers(machine, port, [requestOf(key, bodies[load]())], count);
    callers.window({ durationMs: plan.durationMs });
    callers.close();
  });
}

async function profiled(
  load: ProfileFigures['load'],
  machine: LoadMachine,
  plan: ProfilePlan,
  run: (port: number, key: string) => void,
): Promise<ProfileFigures[]> {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-bench-profile-'));
  const server = await startHeadgate({
    name: 'headgate',
    upstreamPort: machine.upstream.port,
    nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${directory}`],
  });
  const callers = new Callers(
    machine,
    server.port,
    [requestOf(server.key, textBody(bodyBytes))],
    connections,
  );
  callers.window({ durationMs: plan.warmUpMsMax, callsMax: plan.warmUpCalls });
  callers.close();
  const loadedAt = performance.now();
  run(server.port, server.key);
  const endedAt = performance.now();
  await server.stop();
  const span = { loadedMs: endedAt - loadedAt, stopMs: performance.now() - endedAt };
  const file = readdirSync(directory).find((name) => name.split('.')[4] === '0');
  if (file === undefined) throw new Error('Node wrote no profile of the main thread.');
  const found = JSON.parse(readFileSync(join(directory, file), 'utf8')) as CpuProfile;
  rmSync(directory, { recursive: true });
  return figures(load, found, span);
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The end of a profile, in milliseconds: the load, and the stop behind it. Before it were the start and the warm-up. */
interface ProfileSpan {
  readonly loadedMs: number;
  readonly stopMs: number;
}

function figures(load: ProfileLoad, profile: CpuProfile, span: ProfileSpan): ProfileFigures[] {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const [files, functions] = [new Map<string, number>(), new Map<string, number>()];
  let [busyUs, backUs] = [0, 0];
  for (let at = profile.samples.length - 1; at >= 0 && backUs < (span.loadedMs + span.stopMs) * 1000; at--) {
    const deltaUs = profile.timeDeltas[at] ?? 0;
    backUs += deltaUs;
    const frame = nodes.get(profile.samples[at] ?? -1);
    if (backUs < span.stopMs * 1000 || frame === undefined || frame.functionName === '(idle)') continue;
    busyUs += deltaUs;
    const file = placeOf(frame);
    files.set(file, (files.get(file) ?? 0) + deltaUs);
    const name = `${file} ${frame.functionName}`;
    functions.set(name, (functions.get(name) ?? 0) + deltaUs);
  }
  const top = (shares: ReadonlyMap<string, number>, shown: number) =>
    [...shares]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, shown)
      .map(([place, us]) => ({ load, place, share: us / busyUs }));
  return [...top(files, filesShown), ...top(functions, functionsShown)];
}

function placeOf({ functionName, url }: { readonly functionName: string; readonly url: string }): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  return url.replace(/^.*\/(?=packages\/|node_modules\/)/, '');
}
