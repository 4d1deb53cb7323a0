import { JsonReader } from '../bytes/json-reader.ts';
import type { AnswerReading } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import { RunningReading } from './reading.ts';
import { refusalInResponse } from './refusal.ts';
import { ResponseWalk } from './response-walk.ts';

const decoder = new TextDecoder();

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array): AnswerReading {
  const reader = new JsonReader(body);
  const response = new ResponseWalk(reader);
  if (!reader.isAtEnd() || !response.hasOutputList) return refuse(body);
  if (response.status === 'failed') return { kind: 'refusal', refusal: refusalInResponse(response) };
  const reading = new RunningReading();
  reading.close(response);
  return { kind: 'answer', reading };
}

function refuse(body: Uint8Array): AnswerReading {
  const text = decoder.decode(body);
  return { kind: 'refusal', refusal: refusalOf(parseJson(text), text) };
}
