import { JsonReader } from '../bytes/json-reader.ts';
import { decodeJson, KeyNames } from '../bytes/key-names.ts';
import type { Work } from '../inbound-request.ts';
import { type AnswerReading, countReading } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import { recordOf, tokenCount } from '../wire-values.ts';
import { ChunkWalk } from './chunk-walk.ts';
import { readUsage } from './meter.ts';
import { RunningReading, refusalIn, refusalInPlaceOfAnswer } from './reading.ts';

const decoder = new TextDecoder();
const embeddingNames = new KeyNames(['embedding', 'embeddings', 'usageMetadata']);

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, work: Work): AnswerReading {
  switch (work) {
    case 'answer':
      return readGenerated(body);
    case 'count':
      return readCount(body);
    case 'embed':
      return readEmbedded(body);
  }
}

function readGenerated(body: Uint8Array): AnswerReading {
  const walk = new ChunkWalk();
  if (!walk.walk(body, 0)) return notAnAnswer(body);
  const refusal = refusalIn(walk);
  if (refusal !== null) return { kind: 'refusal', refusal };
  const isAnswer = walk.hasCandidates || walk.promptFeedback !== undefined || walk.hasUsage;
  if (!isAnswer) return notAnAnswer(body);
  const reading = new RunningReading();
  reading.take(walk);
  return { kind: 'answer', reading };
}

/** No tokens at all are a count that is left out. */
function readCount(body: Uint8Array): AnswerReading {
  const text = decoder.decode(body);
  const value = parseJson(text);
  const { totalTokens = 0, error } = recordOf(value);
  const isCount = value !== undefined && error === undefined && tokenCount(totalTokens) !== null;
  return isCount ? countReading : { kind: 'refusal', refusal: refusalOf(value, text) };
}

/** Vectors are many numbers and are not looked at. Not every upstream counts what went into them. */
function readEmbedded(body: Uint8Array): AnswerReading {
  const reader = new JsonReader(body);
  let isEmbedded = false;
  let usage: unknown;
  if (!reader.enterObject()) return notAnAnswer(body);
  while (reader.nextMember()) {
    const name = embeddingNames.find(body, reader.keyStart, reader.keyEnd);
    const start = reader.at;
    const end = reader.skip();
    if (name === 'usageMetadata') usage = decodeJson(body, start, end);
    else if (name !== null) isEmbedded = true;
  }
  if (!reader.isAtEnd() || !isEmbedded) return notAnAnswer(body);
  return { kind: 'answer', reading: embeddedReading(usage) };
}

function embeddedReading(wire: unknown) {
  return {
    usage: readUsage(wire),
    finishReason: 'stop' as const,
    finishReasonRaw: null,
    modelServed: null,
    hasOutput: true,
    outputBytes: 0,
    usageAtOutputBytes: 0,
  };
}

function notAnAnswer(body: Uint8Array): AnswerReading {
  return { kind: 'refusal', refusal: refusalInPlaceOfAnswer(decoder.decode(body)) };
}
