import { parentPort, workerData } from 'node:worker_threads';
import { createStoreJobs } from './store-jobs.ts';
import type { JobReply, JobRequest } from './worker-lane.ts';

// The other end, `WorkerLane`, starts this file with the name of the store.
const jobs = createStoreJobs(String(workerData));

parentPort?.on('message', (request: JobRequest) => {
  void perform(request).then((reply) => parentPort?.postMessage(reply));
});

async function perform({ job, inputs }: JobRequest): Promise<JobReply> {
  try {
    // Both ends share the type of the jobs: `WorkerLane.run` lets only inputs through that fit the job.
    const work = jobs[job] as (...values: readonly unknown[]) => unknown;
    return { ok: true, value: await work(...inputs) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
