import { parentPort, Worker, workerData } from 'node:worker_threads';
import { RawConnection, request } from './raw-http.ts';

/**
 * Another caller: small requests one after the other, in a thread of their own, so that what the test's own thread does is not in
 * their times.
 */
export class Pinger {
  readonly #worker: Worker;

  constructor(origin: string, key: string) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { pinged: origin, key } });
  }

  /** Stops it. The times of all its requests in milliseconds, the shortest first. */
  async times(): Promise<readonly number[]> {
    const told = new Promise<readonly number[]>((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage('stop');
    const times = await told;
    await this.#worker.terminate();
    return times.toSorted((a, b) => a - b);
  }
}

const betweenMs = 2;

async function ping(origin: string, key: string): Promise<void> {
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  const connection = new RawConnection(origin);
  const times: number[] = [];
  while (!isOver) {
    const before = performance.now();
    connection.send(request('GET /v1/models', [`authorization: Bearer ${key}`]));
    // One that was not answered took for ever.
    const { status } = await connection.answer();
    times.push(status === 200 ? performance.now() - before : Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, betweenMs));
  }
  connection.close();
  parentPort?.postMessage(times);
}

// Data of the worker that this module starts.
const { pinged, key = '' } = (workerData ?? {}) as { readonly pinged?: string; readonly key?: string };
if (pinged !== undefined) void ping(pinged, key);
