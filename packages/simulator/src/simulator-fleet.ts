import { Worker } from 'node:worker_threads';
import type { SimulatorOptions } from './simulator.ts';

/** Options that can cross into a thread. */
export type WorkerOptions = Omit<SimulatorOptions, 'clock' | 'requestsKept'>;

/** A wish to the fleet's thread about one of its simulators, by its place. */
export type FleetWish =
  | { readonly kind: 'set-script'; readonly command: string }
  | { readonly kind: 'go-down' | 'come-up' | 'count' };

export interface FleetOrder {
  /** Named again in the report. */
  readonly id: number;
  readonly member: number;
  readonly wish: FleetWish;
}

/** The outcome of an order. `problem` is null when it was done. */
export interface FleetReport {
  readonly id: number;
  readonly requestCount: number;
  readonly problem: string | null;
}

/** One simulator of a fleet: as `SimulatorControl`, but for its thread's answer being waited for. */
export interface FleetMember {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly origin: string;
  /** Replaces the command every request starts from. Rejects on a command that cannot be read. */
  setScript(command: string): Promise<void>;
  /** Refuses connections from now on and resets the open ones. */
  goDown(): Promise<void>;
  /** Listens on the same port again. */
  comeUp(): Promise<void>;
  /** Requests ever received; connections that were refused are nobody's to count. */
  requestCount(): Promise<number>;
}

/** Many simulators in one thread, each of which can be made to fail by itself while they serve. */
export interface SimulatorFleet {
  readonly members: readonly FleetMember[];
  close(): Promise<void>;
}

/** Starts a simulator for each of the options, all in one thread of their own. Rejects as one of them does. */
export async function startSimulatorFleet(options: readonly WorkerOptions[]): Promise<SimulatorFleet> {
  const worker = new Worker(new URL('./fleet-worker.ts', import.meta.url), { workerData: options });
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  worker.once('message', resolve);
  worker.once('error', reject);
  const origins = await promise;
  const orders = new Orders(worker);
  return {
    members: origins.map((origin, member) => memberOf(origin, (wish) => orders.give(member, wish))),
    close: async () => void (await worker.terminate()),
  };
}

export interface SimulatorWorker extends Pick<FleetMember, 'origin'> {
  close(): Promise<void>;
}

/** Starts a simulator in a thread of its own, so that its work never delays the caller's. Rejects as it does. */
export async function startSimulatorWorker(options: WorkerOptions = {}): Promise<SimulatorWorker> {
  const { members, close } = await startSimulatorFleet([options]);
  return { origin: members[0]?.origin ?? '', close };
}

/** A simulator that is started when somebody first asks where it is. */
export class LazySimulator {
  #worker: Promise<SimulatorWorker> | null = null;

  async origin(): Promise<string> {
    this.#worker ??= startSimulatorWorker();
    return (await this.#worker).origin;
  }

  async close(): Promise<void> {
    await (await this.#worker)?.close();
  }
}

function memberOf(origin: string, give: (wish: FleetWish) => Promise<FleetReport>): FleetMember {
  return {
    origin,
    setScript: async (command) => void (await give({ kind: 'set-script', command })),
    goDown: async () => void (await give({ kind: 'go-down' })),
    comeUp: async () => void (await give({ kind: 'come-up' })),
    requestCount: async () => (await give({ kind: 'count' })).requestCount,
  };
}

/** Orders under way to the thread, and who waits for each. */
class Orders {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<FleetReport>>();
  #given = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (report: FleetReport) => this.#take(report));
  }

  give(member: number, wish: FleetWish): Promise<FleetReport> {
    const id = this.#given++;
    const waiting = Promise.withResolvers<FleetReport>();
    this.#waiting.set(id, waiting);
    this.#worker.postMessage({ id, member, wish } satisfies FleetOrder);
    return waiting.promise;
  }

  #take(report: FleetReport): void {
    const waiting = this.#waiting.get(report.id);
    this.#waiting.delete(report.id);
    if (report.problem === null) waiting?.resolve(report);
    else waiting?.reject(new Error(report.problem));
  }
}
