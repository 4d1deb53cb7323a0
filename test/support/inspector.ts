import { fileURLToPath } from 'node:url';

const root = new URL('../../packages/', import.meta.url).href;

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly FunctionCoverage[];
}

/** How often each function of ours ran, by its file and place in it. */
export type Invocations = ReadonlyMap<string, { readonly file: string; readonly count: number }>;

interface SamplingNode {
  readonly selfSize: number;
  readonly children: readonly SamplingNode[];
}

/** V8's own counters of another process, asked over its inspector. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      // The inspector sends JSON; events have no id and nobody waits for them.
      const { id, result } = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
      if (id !== undefined) this.#waiting.get(id)?.(result);
    });
  }

  /** `announcement` holds the address that a process started with `--inspect` has printed. */
  static async connect(announcement: string): Promise<Inspector> {
    const [address] = /ws:\S+/.exec(announcement) ?? [];
    if (address === undefined) throw new Error(`no inspector listens: ${announcement}`);
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new Inspector(socket);
  }

  /** Counts our functions that run during the work, on the main thread. */
  async invocationsDuring(work: () => Promise<void>): Promise<Invocations> {
    await this.#ask('Profiler.enable');
    await this.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await this.#ask('Profiler.takePreciseCoverage');
    await work();
    const { result } = (await this.#ask('Profiler.takePreciseCoverage')) as {
      readonly result: readonly ScriptCoverage[];
    };
    await this.#ask('Profiler.stopPreciseCoverage');
    return new Map(
      result
        .filter(({ url }) => url.startsWith(root))
        .flatMap(({ url, functions }) =>
          functions.map(({ functionName, ranges: [whole] }) => {
            const file = fileURLToPath(url).slice(fileURLToPath(root).length);
            return [
              `${file} ${functionName} ${whole?.startOffset}`,
              { file, count: whole?.count ?? 0 },
            ] as const;
          }),
        ),
    );
  }

  /** Bytes that the main thread allocates during the work, whether they are collected or not. A sample: true to some percent. */
  async allocatedDuring(work: () => Promise<void>): Promise<number> {
    await this.#ask('HeapProfiler.enable');
    await this.#ask('HeapProfiler.startSampling', {
      samplingInterval: 1024,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await work();
    const { profile } = (await this.#ask('HeapProfiler.stopSampling')) as {
      readonly profile: { readonly head: SamplingNode };
    };
    const sum = ({ selfSize, children }: SamplingNode): number =>
      children.reduce((total, child) => total + sum(child), selfSize);
    return sum(profile.head);
  }

  close(): void {
    this.#socket.close();
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
