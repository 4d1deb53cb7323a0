import type { Dialect } from '../inbound-request.ts';
import type { AnswerReading } from '../protocol.ts';
import { ChunkWalk } from './chunk-walk.ts';
import { RunningReading, refusalIn, refusalInPlaceOfAnswer } from './reading.ts';

const decoder = new TextDecoder();

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, dialect: Dialect): AnswerReading {
  const answer = new ChunkWalk();
  if (!answer.walk(body, 0)) return refuse(body);
  const refusal = refusalIn(answer);
  if (refusal !== null) return { kind: 'refusal', refusal };
  if (!answer.hasChoices) return refuse(body);
  const reading = new RunningReading(dialect);
  reading.take(answer);
  return { kind: 'answer', reading };
}

function refuse(body: Uint8Array): AnswerReading {
  return { kind: 'refusal', refusal: refusalInPlaceOfAnswer(decoder.decode(body)) };
}
