import { parentPort } from 'node:worker_threads';
import {
  type AnswerReading,
  isBeyondReading,
  protocols,
  type Reading,
  Translation,
} from '@headgate/protocols';
import type { AnswerAway, AnswerJob } from '../ports/gateway.ts';
import type { JobAnswer, JobMessage } from '../threads/job-thread.ts';

// The other end, `WorkerTranslator`, sends one answer after the other and waits for each reading.
parentPort?.on('message', ({ id, message, bytes }: JobMessage<AnswerJob>) => {
  const answer: JobAnswer<AnswerAway | null> = { id, result: readAway(message, bytes) };
  const buffer = answer.result?.bytes?.buffer;
  parentPort?.postMessage(answer, buffer instanceof ArrayBuffer ? [buffer] : []);
});

function readAway({ upstream, dialect, work, translation }: AnswerJob, body: Uint8Array): AnswerAway | null {
  const protocol = protocols[upstream];
  if (translation !== null && isBeyondReading(body)) return null;
  const answer = inData(protocol.readAnswer(body, dialect, work));
  if (translation === null || answer.kind === 'refusal') return { answer, bytes: null };
  const { target, written, context } = translation;
  const { surface } = context.turn;
  const caller = Object.values(protocols).find(({ codec }) => codec?.surface.id === surface.id)?.codec;
  if (caller === undefined || caller === null || protocol.codec === null)
    throw new Error(`${surface.id} is never translated`);
  const languages = { caller, upstream: protocol.codec };
  const turn = { ...context.turn, surface: caller.surface };
  return { answer, bytes: new Translation(languages, target, written, { ...context, turn }).whole(body) };
}

/** Copies it member by member: a number that is counted when it is asked for would not leave the thread. */
function inData(answer: AnswerReading): AnswerReading {
  if (answer.kind === 'refusal') return answer;
  const { usage, iterations, finishReason, finishReasonRaw, modelServed, answerId } = answer.reading;
  const { containerId, hasOutput, outputBytes, usageAtOutputBytes, images, terms } = answer.reading;
  const { statedCostUsd } = answer.reading;
  const reading = {
    ...{ usage, finishReason, finishReasonRaw, modelServed, hasOutput, outputBytes, usageAtOutputBytes },
    ...{ iterations: iterations ?? null, answerId: answerId ?? null, containerId: containerId ?? null },
    ...(images === undefined ? {} : { images }),
    ...(terms === undefined ? {} : { terms }),
    statedCostUsd: statedCostUsd ?? null,
  } satisfies Record<keyof Reading, unknown> | Reading;
  return { kind: 'answer', reading };
}
