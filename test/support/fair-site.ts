import { setTimeout as delay } from 'node:timers/promises';
import { startSimulatorWorker } from '@headgate/simulator';
import { FloodProcess } from './flood.ts';
import type { FloodKind } from './floods.ts';
import { configureDirectory, serveHeadgate, temporaryDirectory } from './process.ts';
import { SteadyCaller } from './steady-caller.ts';

/** The connections of a flood. */
const connections = 4;
const warmUpCalls = 200;

/** A gateway with one caller who is fair, and whoever is not. */
export interface FairSite extends AsyncDisposable {
  readonly key: string;
  readonly pid: number | undefined;
  /** The caller's times while nobody else calls, and then under a flood, the shortest first. */
  measure(
    kind: FloodKind,
    calls: number,
  ): Promise<{ idleMs: readonly number[]; floodedMs: readonly number[] }>;
}

export async function openFairSite(): Promise<FairSite> {
  const directory = temporaryDirectory();
  const simulator = await startSimulatorWorker();
  const { key, options } = configureDirectory(directory.path, {
    channels: [{ id: 'a', origin: simulator.origin, models: { demo: 'sim+tokens=3' } }],
  });
  const environment = {
    ...options.environment,
    HEADGATE_IDLE_PROBE: '0s',
    HEADGATE_CALL_LOG: 'false',
    HEADGATE_LOG_LEVEL: 'error',
  };
  const serving = await serveHeadgate({ ...options, environment });
  const { apiOrigin: origin } = serving.ready;
  const caller = new SteadyCaller(origin, key, 'demo');
  const sorted = async (calls: number) => (await caller.times(calls)).toSorted((a, b) => a - b);
  await caller.times(warmUpCalls);
  return {
    key,
    pid: serving.process.pid,
    async measure(kind, calls) {
      const idleMs = await sorted(calls);
      await using flood = new FloodProcess({ ...kind, connections, origin });
      while ((await flood.figures()).opened < connections) await delay(20);
      await delay(200);
      return { idleMs, floodedMs: await sorted(calls) };
    },
    async [Symbol.asyncDispose]() {
      await caller[Symbol.asyncDispose]();
      await serving[Symbol.asyncDispose]();
      await simulator.close();
      directory[Symbol.dispose]();
    },
  };
}
