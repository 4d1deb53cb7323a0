import { createInterface } from 'node:readline';
import { type PinnedProcess, startPinned } from '../harness/pinned-process.ts';

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
