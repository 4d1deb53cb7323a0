import type { Work } from '../inbound-request.ts';
import { type AnswerReading, countReading } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import { isRecord, tokenCount } from '../wire-values.ts';
import { readMessage } from './reading.ts';

const decoder = new TextDecoder();

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, work: Work): AnswerReading {
  const text = decoder.decode(body);
  const value = parseJson(text);
  if (work === 'count' && isRecord(value) && tokenCount(value['input_tokens']) !== null) return countReading;
  if (work === 'answer' && isRecord(value) && Array.isArray(value['content']))
    return { kind: 'answer', reading: readMessage(value) };
  return { kind: 'refusal', refusal: refusalOf(value, text) };
}
