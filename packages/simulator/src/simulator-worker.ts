import { Worker } from 'node:worker_threads';
import type { SimulatorOptions } from './simulator.ts';

/** What can cross into a thread. */
export type WorkerOptions = Omit<SimulatorOptions, 'clock' | 'requestsKept'>;

export interface SimulatorWorker {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts a simulator in a thread of its own, so that its work never delays the caller's. Rejects as it does. */
export async function startSimulatorWorker(options: WorkerOptions = {}): Promise<SimulatorWorker> {
  const worker = new Worker(new URL('./worker-entry.ts', import.meta.url), { workerData: options });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  worker.once('message', resolve);
  worker.once('error', reject);
  const origin = await promise;
  return {
    origin,
    close: async () => void (await worker.terminate()),
  };
}
