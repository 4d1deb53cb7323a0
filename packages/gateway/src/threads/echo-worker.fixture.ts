import { parentPort } from 'node:worker_threads';
import type { JobAnswer, JobMessage } from './job-thread.ts';

/** Answers with the message and the number of bytes that came with it; `throw` ends the thread, as a lack of memory would, and behind `hang` it says no more. */
parentPort?.on('message', ({ id, message, bytes }: JobMessage<string>) => {
  if (message === 'throw') throw new Error('thrown by a test');
  while (message === 'hang');
  const answer: JobAnswer<string> = { id, result: `${message} ${bytes.length}` };
  parentPort?.postMessage(answer);
});
