import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import { type LedgerAlarm, StoreUnavailable, StoreUnusable, unusable } from '../../ports/store.ts';
import type { StoreJobs } from './store-jobs.ts';

export interface JobRequest {
  readonly job: keyof StoreJobs;
  readonly inputs: readonly unknown[];
}

export type JobReply =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly message: string;
      readonly isTrouble: boolean;
      readonly code: string | null;
    };

/** An answer, or an alarm that nobody has asked for. */
export type LaneMessage = JobReply | { readonly alarm: LedgerAlarm };

interface Waiting {
  readonly job: keyof StoreJobs;
  readonly inputs: () => readonly unknown[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Jobs that may wait for a worker; far more than the parts of the gateway that ask for any. */
const waitingMax = 1_000;

/**
 * Far below V8's own limit. A job's rows die young; given the room, they would fill all of it once, and the pages would stay
 * with a thread that then has nothing to do.
 */
const maxYoungGenerationSizeMb = 4;

/** Does the jobs of a store one at a time, in the order they were asked for. */
export interface StoreLane {
  /** `inputs` is asked when the job's turn comes, so that it can take what gathered until then. */
  run<Job extends keyof StoreJobs>(
    job: Job,
    inputs: () => Parameters<StoreJobs[Job]>,
  ): Promise<Awaited<ReturnType<StoreJobs[Job]>>>;
  /** True when it does nothing any more, although nobody has closed it. */
  readonly hasDied: boolean;
  close(): Promise<void>;
}

/** A lane that is a worker thread. */
export class WorkerLane implements StoreLane {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  #current: Waiting | null = null;
  #death: Error | null = null;
  #isClosing = false;

  constructor(file: string, onAlarm: (alarm: LedgerAlarm) => void) {
    const compileCache = getCompileCacheDir();
    this.#worker = new Worker(new URL('./store-worker.ts', import.meta.url), {
      workerData: file,
      // A thread does not inherit the cache of compiled code, without which its start takes three times as long.
      env: compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache },
      resourceLimits: { maxYoungGenerationSizeMb },
    });
    this.#worker.on('message', (message: LaneMessage) => {
      if ('alarm' in message) onAlarm(message.alarm);
      else this.#finish(message);
    });
    this.#worker.on('error', (error) => this.#die(new StoreUnavailable(String(error))));
    this.#worker.on('exit', () => this.#die(new StoreUnavailable('the store is closed')));
  }

  get hasDied(): boolean {
    return this.#death !== null && !this.#isClosing;
  }

  run<Job extends keyof StoreJobs>(
    job: Job,
    inputs: () => Parameters<StoreJobs[Job]>,
  ): Promise<Awaited<ReturnType<StoreJobs[Job]>>> {
    return new Promise((resolve, reject) => {
      if (this.#death !== null) return reject(this.#death);
      if (this.#waiting.length >= waitingMax)
        return reject(new StoreUnavailable('too many requests wait for the store'));
      // The reply is the result of the job of this name: the worker runs the same code.
      this.#waiting.push({ job, inputs, resolve: resolve as (value: unknown) => void, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.run('close', () => []).catch(() => undefined);
    await this.#worker.terminate();
  }

  #next(): void {
    if (this.#current !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#current = next;
    this.#worker.postMessage({ job: next.job, inputs: next.inputs() } satisfies JobRequest);
  }

  #finish(reply: JobReply): void {
    const job = this.#current;
    this.#current = null;
    if (reply.ok) job?.resolve(reply.value);
    else job?.reject(errorOf(reply));
    this.#next();
  }

  #die(error: Error): void {
    this.#death ??= error;
    const orphans = [this.#current, ...this.#waiting.splice(0)];
    this.#current = null;
    for (const orphan of orphans) orphan?.reject(this.#death);
  }
}

function errorOf({ message, isTrouble, code }: Extract<JobReply, { readonly ok: false }>): Error {
  if (code === unusable) return new StoreUnusable(message);
  const error = isTrouble ? new StoreUnavailable(message) : new Error(message);
  return code === null ? error : Object.assign(error, { code });
}
