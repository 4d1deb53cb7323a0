import { parentPort, Worker, workerData } from 'node:worker_threads';
import { chatRequest, RawConnection } from './raw-http.ts';

/**
 * One who makes one call after the other on a connection, in a thread of its own: what the process of a test does besides is not in
 * its times.
 */
export class SteadyCaller implements AsyncDisposable {
  readonly #worker: Worker;

  constructor(origin: string, key: string, model: string) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { called: origin, key, model } });
  }

  /** How long each of so many calls took, in milliseconds. */
  async times(count: number): Promise<readonly number[]> {
    const told = new Promise<readonly number[]>((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage(count);
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

async function timesOf(origin: string, bytes: Uint8Array, count: number): Promise<readonly number[]> {
  const connection = new RawConnection(origin);
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const since = performance.now();
    const { status, isWhole } = await connection.send(bytes).answer();
    // One that was not answered took for ever.
    times.push(status === 200 && isWhole ? performance.now() - since : Number.POSITIVE_INFINITY);
  }
  connection.close();
  return times;
}

interface Given {
  readonly called?: string;
  readonly key?: string;
  readonly model?: string;
}

// Data of the worker that this module starts.
const { called, key = '', model = '' } = (workerData ?? {}) as Given;
if (called !== undefined) {
  const bytes = chatRequest(key, { model, messages: [{ role: 'user', content: 'x' }] });
  parentPort?.on('message', (count: number) => {
    void timesOf(called, bytes, count).then((times) => parentPort?.postMessage(times));
  });
}
