import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process of its own does to a gateway, so that what it costs is nobody else's time. */
export interface Flood {
  readonly origin: string;
  readonly connections: number;
  /** In latin1. */
  readonly request: string;
  /** Over and over without waiting for answers, or one request on each connection. */
  readonly manner: 'pipelined' | 'single';
  /** False: no answer is ever read. */
  readonly reads?: boolean;
}

export interface FloodFigures {
  /** Connections that were begun. */
  opened: number;
  readBytes: number;
}

const program = fileURLToPath(new URL('./flood-process.ts', import.meta.url));

/** A flood under way. */
export class FloodProcess implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor(flood: Flood) {
    this.#child = fork(program, [JSON.stringify(flood)], { execArgv: [] });
  }

  async figures(): Promise<FloodFigures> {
    const told = new Promise<FloodFigures>((resolve) => {
      // The program sends nothing else.
      this.#child.once('message', (figures) => resolve(figures as FloodFigures));
    });
    this.#child.send('figures');
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
