import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';

/** The server under test has one core to itself; the benchmark, which loads it and answers it, has the other. */
export const serverCore = 0;
export const loadCore = 1;

export interface PinnedProcess {
  readonly pid: number;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly core: number;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** File descriptor for everything the process prints; without it, standard output is a pipe. */
  readonly logFile?: number;
}

/** Why processes cannot be pinned here, or null when they can. */
export function pinningObstacle(): string | null {
  // Not availableParallelism(): that counts what is left once this process has been pinned itself.
  if (cpus().length < 2) return 'this machine has a single core';
  if (spawnSync('taskset', ['-V']).status !== 0) return 'taskset is not installed';
  return null;
}

/** Pins a process that runs already, with all its threads. */
export function pinRunning(pid: number, core: number): void {
  if (pinningObstacle() === null) spawnSync('taskset', ['-a', '-cp', String(core), String(pid)]);
}

/** Starts a program on one core. */
export function startPinned(options: StartOptions): PinnedProcess & { readonly child: ChildProcess } {
  const pin = pinningObstacle() === null ? ['taskset', '-c', String(options.core)] : [];
  const [program = '', ...rest] = [...pin, ...options.command];
  const child = spawn(program, rest, {
    env: { ...process.env, ...options.environment },
    stdio: ['pipe', options.logFile ?? 'pipe', options.logFile ?? 'inherit'],
  });
  const gone = once(child, 'exit');
  // The benchmark's own end, however it comes, must leave nothing behind.
  process.once('exit', () => child.kill());
  return {
    child,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** One of the benchmark's own scripts, listening. */
export interface BenchScript extends PinnedProcess {
  readonly port: number;
}

/** Starts one of the benchmark's own scripts, which prints its port as a JSON line once it listens. */
export async function startScript(core: number, script: string, argument: string): Promise<BenchScript> {
  const started = startPinned({
    core,
    command: [process.execPath, new URL(script, import.meta.url).pathname, argument],
  });
  if (started.child.stdout === null)
    throw new Error('A script of the benchmark must have a standard output.');
  for await (const line of createInterface(started.child.stdout)) {
    const { port }: { port: number } = JSON.parse(line) as { port: number };
    return { pid: started.pid, stop: started.stop, port };
  }
  throw new Error(`${script} ended before it listened.`);
}
