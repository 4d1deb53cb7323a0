import { Worker } from 'node:worker_threads';
import type { BystanderOptions, BystanderReport } from './bystander-worker.ts';

/** One who calls all the time and does nothing wrong, in a thread of its own: what the others do must not be felt there. */
export class Bystander {
  readonly #worker: Worker;

  constructor(options: BystanderOptions) {
    this.#worker = new Worker(new URL('./bystander-worker.ts', import.meta.url), { workerData: options });
  }

  /** Of the calls since the last report. */
  report(): Promise<BystanderReport> {
    return this.#ask('report');
  }

  /** The same, and no more calls. */
  async end(): Promise<BystanderReport> {
    const report = await this.#ask('end');
    await this.#worker.terminate();
    return report;
  }

  #ask(wish: 'report' | 'end'): Promise<BystanderReport> {
    const { promise, resolve } = Promise.withResolvers<BystanderReport>();
    this.#worker.once('message', resolve);
    this.#worker.postMessage(wish);
    return promise;
  }
}
