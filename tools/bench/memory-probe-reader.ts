import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { MemoryReading } from './memory-probe.ts';

/** A process that tells what it has allocated and holds. */
export class MemoryProbe {
  readonly nodeOptions: readonly string[] = [
    '--expose-gc',
    '--import',
    new URL('./memory-probe.ts', import.meta.url).pathname,
  ];
  readonly environment: Readonly<Record<string, string>>;
  readonly #file: string;

  constructor(name: string) {
    this.#file = join(tmpdir(), `headgate-bench-probe-${process.pid}-${name}.json`);
    this.environment = { BENCH_PROBE_FILE: this.#file };
  }

  async read(pid: number): Promise<MemoryReading> {
    rmSync(this.#file, { force: true });
    process.kill(pid, 'SIGWINCH');
    for (let tries = 0; tries < 500 && !existsSync(this.#file); tries++) await setTimeout(10);
    const reading = JSON.parse(readFileSync(this.#file, 'utf8')) as MemoryReading;
    rmSync(this.#file, { force: true });
    return reading;
  }
}
