import { parentPort, workerData } from 'node:worker_threads';
import { startSimulator } from './simulator.ts';
import type { WorkerOptions } from './simulator-worker.ts';

// Only `startSimulatorWorker` starts this thread, and it passes exactly this.
const options = workerData as WorkerOptions;
const { origin } = await startSimulator({ ...options, requestsKept: 0 });
parentPort?.postMessage(origin);
