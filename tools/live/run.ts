import { setTimeout } from 'node:timers/promises';
import { type FleetMember, type SimulatorFleet, startSimulatorFleet } from '@headgate/simulator';
import { newKey, type RunningHeadgate, startConfigured } from '../harness/headgate-process.ts';
import { cpuTimeUs } from '../harness/process-usage.ts';
import { SeededRandom } from '../simulate/seeded-random.ts';
import { CallerPool, type TimedAnswer } from './caller-pool.ts';
import { configurationOf, keyVariable, type Platform, platforms } from './configuration.ts';
import { type LedgerFindings, readLedger } from './ledger.ts';
import { OpenLoop } from './open-loop.ts';
import { cheapestOfAllModels, type Scene, type SceneChannel } from './scene.ts';
import { requestOf, type Surface, surfaceAt } from './surface.ts';
import type { Incident, Phase } from './timeline.ts';

export interface Plan {
  readonly scene: Scene;
  readonly phases: readonly Phase[];
  readonly callsPerSecond: number;
  readonly seed: number;
  /** Checkout whose gateway is run; this one if left out. */
  readonly root?: string;
}

/** One call, from its caller's side. */
export interface SeenCall {
  /** Also in its entry, as the client's own request id. */
  readonly id: string;
  /** Name of the phase it was sent in. */
  readonly phase: string;
  readonly surface: Surface;
  readonly model: string;
  readonly answer: TimedAnswer;
}

export interface RunResult {
  readonly calls: readonly SeenCall[];
  /** Ids of the channels that every incident hits. */
  readonly hitChannels: ReadonlySet<string>;
  /** Requests that came to simulators, probes included. */
  readonly requestsReceived: number;
  /** CPU of the gateway's process while there was load, and how long that was. */
  readonly cpuMs: number;
  readonly loadMs: number;
  readonly worstLagMs: number;
  readonly ledger: LedgerFindings;
}

/** Channels that are hit of the ten that each model has. */
const hitPerModel = 3;
/** Code is compiled and connections are made before anything is measured. */
export const warmUpMs = 5_000;
export const warmUpName = 'warm-up';
/** How long callers wait for answers after the last call was sent. */
const patienceMs = 30_000;

/** Runs the whole timeline on one gateway, and reads its ledger when it has ended. */
export async function run(plan: Plan, progress: (what: string) => void): Promise<RunResult> {
  return atSite(plan, async (site) => {
    const loaded = await load(plan, site, progress);
    progress('reading the ledger');
    await site.gateway.end();
    return { ...loaded, ledger: await readLedger(site.gateway.dataDir) };
  });
}

/** CPU per call of the same timeline, in microseconds; nothing else of it is looked at. */
export async function measureCpu(plan: Plan, progress: (what: string) => void): Promise<number> {
  return cpuUsPerCall(await atSite(plan, (site) => load(plan, site, progress)));
}

export function cpuUsPerCall({ cpuMs, calls }: Pick<RunResult, 'cpuMs' | 'calls'>): number {
  return (1000 * cpuMs) / calls.filter(({ phase }) => phase !== warmUpName).length;
}

async function atSite<Result>({ scene, root }: Plan, work: (site: Site) => Promise<Result>): Promise<Result> {
  const fleet = await startSimulatorFleet(scene.channels.map(({ script }) => ({ script })));
  const keys = Object.fromEntries(platforms.map((platform) => [platform, newKey()])) as Record<
    Platform,
    string
  >;
  const origins = fleet.members.map(({ origin }) => origin);
  const gateway = await startConfigured({
    yaml: configurationOf(scene, origins),
    environment: Object.fromEntries(platforms.map((platform) => [keyVariable(platform), keys[platform]])),
    core: null,
    ...(root === undefined ? {} : { root }),
  });
  try {
    return await work({ fleet, gateway, keys });
  } finally {
    await gateway.stop();
    await fleet.close();
  }
}

interface Site {
  readonly fleet: SimulatorFleet;
  readonly gateway: RunningHeadgate;
  readonly keys: Readonly<Record<Platform, string>>;
}

async function load(
  { scene, phases, callsPerSecond, seed }: Plan,
  { fleet, gateway, keys }: Site,
  progress: (what: string) => void,
): Promise<Omit<RunResult, 'ledger'>> {
  const hit = cheapestOfAllModels(scene, hitPerModel).map((place) => hitTarget(scene, fleet, place));
  const random = new SeededRandom(seed);
  const pool = new CallerPool(gateway.port);
  const calls: Promise<SeenCall>[] = [];
  let phaseName = warmUpName;
  const loop = new OpenLoop(callsPerSecond, (number) => {
    const surface = surfaceAt(random.uniform());
    const { id: model } = random.pick(scene.models);
    const [id, phase] = [`live-${number}`, phaseName];
    const request = requestOf(surface, { id, model, key: keys[surface.platform] });
    calls.push(pool.call(surface, request).then((answer) => ({ id, phase, surface, model, answer })));
  });
  await setTimeout(warmUpMs);
  const [startedAt, cpuBeforeUs] = [performance.now(), cpuTimeUs(gateway.pid)];
  for (const { name, lengthMs, incident } of phases) {
    progress(`${name}, ${lengthMs / 1000} s`);
    phaseName = name;
    if (incident !== null) await Promise.all(hit.map((target) => strike(target, incident)));
    await setTimeout(lengthMs);
    if (incident !== null) await Promise.all(hit.map((target) => mend(target, incident)));
  }
  loop.stop();
  const [loadMs, cpuUs] = [performance.now() - startedAt, cpuTimeUs(gateway.pid) - cpuBeforeUs];
  await Promise.race([Promise.all(calls), setTimeout(patienceMs, null, { ref: false })]);
  pool.close();
  return {
    calls: await Promise.all(calls),
    hitChannels: new Set(hit.map(({ channel }) => channel.id)),
    requestsReceived: await requestsReceived(fleet),
    cpuMs: cpuUs / 1000,
    loadMs,
    worstLagMs: loop.worstLagMs,
  };
}

interface HitTarget {
  readonly channel: SceneChannel;
  readonly simulator: FleetMember;
}

function hitTarget({ channels }: Scene, { members }: SimulatorFleet, place: number): HitTarget {
  const [channel, simulator] = [channels[place], members[place]];
  if (channel === undefined || simulator === undefined) throw new Error(`there is no channel ${place}`);
  return { channel, simulator };
}

function strike({ channel, simulator }: HitTarget, incident: Incident): Promise<void> {
  return incident.kind === 'down'
    ? simulator.goDown()
    : simulator.setScript(`${channel.script},${incident.words}`);
}

function mend({ channel, simulator }: HitTarget, incident: Incident): Promise<void> {
  return incident.kind === 'down' ? simulator.comeUp() : simulator.setScript(channel.script);
}

async function requestsReceived({ members }: SimulatorFleet): Promise<number> {
  const counts = await Promise.all(members.map((member) => member.requestCount()));
  return counts.reduce((sum, count) => sum + count, 0);
}
