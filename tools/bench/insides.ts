// Counted rather than timed: bytes allocated and system calls per call.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Checkout } from '../harness/checkout.ts';
import { contextSwitches } from '../harness/process-usage.ts';
import { Callers, type LoadMachine, requestOf, textBody } from './load.ts';
import { MemoryProbe } from './memory-probe-reader.ts';
import { type ServerName, startBareProxy, startHeadgate } from './servers.ts';

/** The work of one server for a call, counted over many. */
export interface InsideFigures {
  readonly server: ServerName;
  readonly connections: number;
  /** By the main thread, in V8's heap. */
  readonly allocatedKibPerCall: number;
  readonly switchesPerCall: number;
  /** Counted over all threads; null without strace. */
  readonly syscallsPerCall: number | null;
  /** The most frequent ones, by name. */
  readonly syscalls: Readonly<Record<string, number>>;
}

export interface InsidePlan {
  readonly connections: readonly number[];
  readonly warmUpCalls: number;
  readonly warmUpMsMax: number;
  readonly windowMs: number;
}

const bodyBytes = 1_500;
const syscallsShown = 6;

/** One server after the other: counts do not depend on the machine's mood. */
export async function countInsides(
  machine: LoadMachine,
  checkout: Checkout | null,
  plan: InsidePlan,
): Promise<InsideFigures[]> {
  const names: readonly ServerName[] = [
    'bare-proxy',
    'headgate',
    ...(checkout === null ? [] : (['against'] as const)),
  ];
  const found: InsideFigures[] = [];
  for (const name of names) found.push(...(await countOne(machine, name, checkout, plan)));
  return found;
}

async function countOne(
  machine: LoadMachine,
  name: ServerName,
  checkout: Checkout | null,
  plan: InsidePlan,
): Promise<InsideFigures[]> {
  const probe = new MemoryProbe(name);
  const choice = { upstreamPort: machine.upstream.port, probe };
  const server =
    name === 'bare-proxy'
      ? await startBareProxy(choice)
      : await startHeadgate({ name, ...choice, checkout: name === 'against' ? checkout : null });
  try {
    if (server.pid === null) throw new Error(`${name} has no process.`);
    const request = requestOf(server.key, textBody(bodyBytes));
    const figures: InsideFigures[] = [];
    for (const connections of plan.connections) {
      const callers = new Callers(machine, server.port, [request], connections);
      callers.window({ durationMs: plan.warmUpMsMax, callsMax: plan.warmUpCalls });
      const [before, switchesBefore] = [await probe.read(server.pid), contextSwitches(server.pid)];
      const { requests } = callers.window({ durationMs: plan.windowMs });
      const switches = contextSwitches(server.pid) - switchesBefore;
      const after = await probe.read(server.pid);
      figures.push({
        server: name,
        connections,
        allocatedKibPerCall: (after.allocated - before.allocated) / 1024 / requests,
        switchesPerCall: switches / requests,
        ...(await traced(server.pid, () => callers.window({ durationMs: plan.windowMs }).requests)),
      });
      callers.close();
    }
    return figures;
  } finally {
    await server.stop();
  }
}

/** Counts the system calls of a process while the load runs. */
async function traced(
  pid: number,
  load: () => number,
): Promise<Pick<InsideFigures, 'syscallsPerCall' | 'syscalls'>> {
  if (!hasStrace()) return { syscallsPerCall: null, syscalls: {} };
  const directory = mkdtempSync(join(tmpdir(), 'headgate-bench-strace-'));
  const file = join(directory, 'counts');
  const tracer = spawn('strace', ['-f', '-c', '-U', 'calls,name', '-o', file, '-p', String(pid)], {
    stdio: 'ignore',
  });
  await setTimeout(500);
  const calls = load();
  const ended = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await ended;
  const counts = [...readFileSync(file, 'utf8').matchAll(/^ *(\d+) (\w+)$/gm)].map(
    ([, count, name]) => [name ?? '', Number(count)] as const,
  );
  rmSync(directory, { recursive: true });
  const perCall = (count: number) => Math.round((100 * count) / calls) / 100;
  const each = counts.filter(([name]) => name !== 'total');
  const frequent = each.toSorted(([, a], [, b]) => b - a).slice(0, syscallsShown);
  return {
    syscallsPerCall: perCall(each.reduce((sum, [, count]) => sum + count, 0)),
    syscalls: Object.fromEntries(frequent.map(([name, count]) => [name, perCall(count)])),
  };
}

export function hasStrace(): boolean {
  return spawnSync('strace', ['-V']).status === 0;
}
