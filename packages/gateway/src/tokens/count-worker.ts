import { parentPort } from 'node:worker_threads';
import type { JobAnswer, JobMessage } from '../threads/job-thread.ts';
import { countPrompt } from './count-prompt.ts';

// The other end, `WorkerTokenCounter`, sends one body after the other and waits for each count.
parentPort?.on('message', ({ id, bytes }: JobMessage<null>) => {
  const answer: JobAnswer<number | null> = { id, result: countOrNull(bytes) };
  parentPort?.postMessage(answer);
});

function countOrNull(body: Uint8Array): number | null {
  try {
    return countPrompt(body);
  } catch {
    // A body that is not the JSON it was taken for is not counted.
    return null;
  }
}
