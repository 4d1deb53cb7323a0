import { parentPort, workerData } from 'node:worker_threads';
import { type LedgerAlarm, StoreUnavailable } from '../../ports/store.ts';
import { asTrouble } from './database.ts';
import { createStoreJobs, type StoreJobs } from './store-jobs.ts';
import { storeProblem } from './store-problem.ts';
import type { JobReply, JobRequest, LaneMessage } from './worker-lane.ts';

// The other end, `WorkerLane`, starts this file with the name of the store.
serve(String(workerData));

function serve(file: string): void {
  let jobs: StoreJobs | null = null;
  const onAlarm = (alarm: LedgerAlarm) => parentPort?.postMessage({ alarm } satisfies LaneMessage);
  parentPort?.on('message', (request: JobRequest) => {
    // A store that no job has opened is not opened to be closed.
    if (jobs === null && request.job === 'close') {
      parentPort?.postMessage({ ok: true, value: null } satisfies LaneMessage);
      return;
    }
    // Opened by the first job, so that every failure to open is an answer.
    const reply = perform(file, () => (jobs ??= createStoreJobs(file, onAlarm)), request);
    void reply.then((value) => parentPort?.postMessage(value));
  });
}

async function perform(file: string, open: () => StoreJobs, { job, inputs }: JobRequest): Promise<JobReply> {
  try {
    // Both ends share the type of the jobs: `WorkerLane.run` lets only inputs through that fit the job.
    const work = open()[job] as (...values: readonly unknown[]) => unknown;
    return { ok: true, value: await work(...inputs) };
  } catch (cause) {
    const error = asTrouble(storeProblem(cause, file));
    const code = 'code' in error ? String(error.code) : null;
    return { ok: false, message: error.message, isTrouble: error instanceof StoreUnavailable, code };
  }
}
