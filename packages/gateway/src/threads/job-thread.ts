import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** A job as the thread is sent it, and its answer. Each job has a number, so that no answer is taken for another's. */
export interface JobMessage<Message> {
  readonly id: number;
  readonly message: Message;
  readonly bytes: Uint8Array;
}
export interface JobAnswer<Done> {
  readonly id: number;
  readonly result: Done;
}

/** Work for the thread. */
interface Job<Message, Done> {
  readonly id: number;
  /** Whose it is: of several, each gets its turn. */
  readonly by: string;
  readonly message: Message;
  /** Copied for the thread when it is the job's turn. */
  readonly bytes: Uint8Array;
  /** Null when nobody waits for it any more. */
  done: ((result: Done | null) => void) | null;
}

/** Far more than the longest of them takes on a busy machine. */
const usualJobMsMax = 60_000;
/** Bytes that are copied in one step of the event loop. */
const sliceBytes = 1024 * 1024;

export interface JobThreadOptions {
  /** Jobs that may wait for their turn; beyond that none is taken. */
  readonly waitingMax: number;
  readonly heapMebibytesMax?: number;
  /** A job that takes longer has hung, and is ended with its thread. */
  readonly jobMsMax?: number;
  /** Hears that the thread has ended by itself, and with it the job it had; `why` holds nothing of what it was given. */
  readonly onLost?: (why: string) => void;
}

/**
 * A thread for work that would hold the event loop. It starts with the first job and takes one after the other, the next one of whoever
 * has waited longest since its last, so that one who has many delays nobody else by more than one.
 */
export class JobThread<Message, Done> {
  readonly #script: URL;
  readonly #options: JobThreadOptions;
  /** By whose they are; the first one's turn is next. */
  readonly #waiting = new Map<string, Job<Message, Done>[]>();
  #waitingJobs = 0;
  #jobs = 0;
  /** Whose turn it was last. */
  #latest: string | null = null;
  #current: Job<Message, Done> | null = null;
  #worker: Worker | null = null;
  #patience: NodeJS.Timeout | undefined;

  constructor(script: URL, options: JobThreadOptions) {
    this.#script = script;
    this.#options = options;
  }

  /**
   * Has the job done, and calls back with what the thread has answered, or with null when it takes no more or has failed; not
   * within this call. @returns lets go of it: `done` is not called then, and `bytes` are no longer read.
   */
  run(by: string, message: Message, bytes: Uint8Array, done: (result: Done | null) => void): () => void {
    const job: Job<Message, Done> = { id: ++this.#jobs, by, message, bytes, done };
    const isFull = this.#waitingJobs >= this.#options.waitingMax;
    if (isFull && !this.#makePlace(by)) setImmediate(() => finish(job, null));
    else {
      this.#waitingJobs++;
      const others = this.#waiting.get(by);
      if (others === undefined) this.#waiting.set(by, [job]);
      else others.push(job);
      void this.#next();
    }
    return () => {
      job.done = null;
      this.#remove(job);
    };
  }

  async close(): Promise<void> {
    for (let job = this.#take(); job !== null; job = this.#take()) finish(job, null);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
    this.#finish(null);
  }

  /** Whoever has let go of a job takes no place of others who wait. */
  #remove(job: Job<Message, Done>): void {
    const jobs = this.#waiting.get(job.by);
    const place = jobs?.indexOf(job) ?? -1;
    if (jobs === undefined || place === -1) return;
    jobs.splice(place, 1);
    if (jobs.length === 0) this.#waiting.delete(job.by);
    this.#waitingJobs--;
  }

  async #next(): Promise<void> {
    if (this.#current !== null) return;
    let job = this.#take();
    while (job?.done === null) job = this.#take();
    if (job === null) return;
    this.#current = job;
    const copy = await copyInSlices(job);
    // The thread may have failed meanwhile, and with it this job.
    if (this.#current !== job) return;
    if (copy === null) return this.#finish(null);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const sent: JobMessage<Message> = { id: job.id, message: job.message, bytes: copy };
    worker.postMessage(sent, [copy.buffer]);
    this.#patience = setTimeout(() => {
      this.#fail(worker, 'a job took too long');
      void worker.terminate();
    }, this.#options.jobMsMax ?? usualJobMsMax).unref();
  }

  /** Whoever has most that waits loses the last of it to one who has less: nobody fills all places against others. */
  #makePlace(by: string): boolean {
    let most = this.#waiting.get(by) ?? [];
    const least = most.length + 1;
    for (const jobs of this.#waiting.values()) if (jobs.length > most.length) most = jobs;
    const last = most.length > least ? most.pop() : undefined;
    if (last === undefined) return false;
    this.#waitingJobs--;
    setImmediate(() => finish(last, null));
    return true;
  }

  /** The next one whose turn it is. */
  #take(): Job<Message, Done> | null {
    for (const [by, jobs] of this.#waiting) {
      if (by === this.#latest && this.#waiting.size > 1) continue;
      this.#latest = by;
      const job = jobs.shift();
      // Behind all others, if there is more.
      this.#waiting.delete(by);
      if (jobs.length > 0) this.#waiting.set(by, jobs);
      if (job === undefined) continue;
      this.#waitingJobs--;
      return job;
    }
    return null;
  }

  #start(): Worker {
    const { heapMebibytesMax } = this.#options;
    const resourceLimits = heapMebibytesMax === undefined ? {} : { maxOldGenerationSizeMb: heapMebibytesMax };
    const worker = new Worker(this.#script, { resourceLimits });
    // A thread that only waits for work does not keep the process alive.
    worker.unref();
    worker.on('message', ({ id, result }: JobAnswer<Done>) => {
      if (id === this.#current?.id) this.#finish(result);
    });
    worker.on('error', (error) => this.#fail(worker, nameOf(error)));
    worker.on('exit', (code) => this.#fail(worker, `it ended with ${code}`));
    return worker;
  }

  #finish(result: Done | null): void {
    const job = this.#current;
    this.#current = null;
    clearTimeout(this.#patience);
    if (job !== null) finish(job, result);
    void this.#next();
  }

  /** The next job starts a new thread. One that fails says so twice. */
  #fail(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#options.onLost?.(why);
    this.#finish(null);
  }
}

/** The kind of an error: the message of one that was thrown over a request may hold some of it. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'something else than an error was thrown';
  return 'code' in error ? `${error.name} ${error.code}` : error.name;
}

function finish<Message, Done>(job: Job<Message, Done>, result: Done | null): void {
  const { done } = job;
  job.done = null;
  done?.(result);
}

/**
 * A copy to be handed over: the caller's bytes are a view of a buffer that is still in use. Fresh memory costs more than the copying,
 * so that of a large body is many steps. Null when nobody waits for it any more.
 */
async function copyInSlices<Message, Done>(job: Job<Message, Done>): Promise<Uint8Array<ArrayBuffer> | null> {
  const { bytes } = job;
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) await nextTurn();
    if (job.done === null) return null;
    copy.set(bytes.subarray(at, at + sliceBytes), at);
  }
  return copy;
}
