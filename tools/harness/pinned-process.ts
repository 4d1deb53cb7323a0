import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';

/** The server under test has one core to itself; whoever loads it and answers it has the other. */
export const serverCore = 0;
export const loadCore = 1;

export interface PinnedProcess {
  readonly pid: number;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Null lets the program run on any. */
  readonly core: number | null;
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

/** Starts a program, on one core where that is wanted and can be. */
export function startPinned(options: StartOptions): PinnedProcess & { readonly child: ChildProcess } {
  const isPinned = options.core !== null && pinningObstacle() === null;
  const pin = isPinned ? ['taskset', '-c', String(options.core)] : [];
  const [program = '', ...rest] = [...pin, ...options.command];
  const child = spawn(program, rest, {
    env: { ...process.env, ...options.environment },
    stdio: ['pipe', options.logFile ?? 'pipe', options.logFile ?? 'inherit'],
  });
  const gone = once(child, 'exit');
  // Our own end, however it comes, must leave nothing behind.
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
