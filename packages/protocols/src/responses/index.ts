import type { Codec } from '../codec.ts';
import { commentFrame } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type { ProtocolOf } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { withoutTools } from '../request/asks.ts';
import { namesIn } from '../request/named-models.ts';
import type { InboundRequest, RequestInput } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { weighLosses } from '../translate/least-loss.ts';
import { passThrough } from './edits.ts';
import { ResponsesPlace } from './place.ts';
import { ResponsesEventReader, readTurnAnswer } from './read-events.ts';
import { readTurn } from './read-messages.ts';
import { readAsks, readFacts, readSession } from './request.ts';
import { encodeStreamError, ResponsesStreamReader, readAnswer, unknownId } from './stream.ts';
import { responsesSurface } from './wire.ts';
import { ResponsesEventWriter, writeAnswer } from './write-events.ts';
import { supportOf, writeTurn } from './write-messages.ts';
import { thoughtWords } from './write-settings.ts';

/** The responses API to and from the canonical form. */
export const responsesCodec: Codec = {
  surface: responsesSurface,
  repeatsRequest: true,
  readTurn,
  writeTurn,
  weighLosses: (turn, target) => weighLosses(turn, target, supportOf(turn, target)),
  thoughtWords,
  mediaByUrl: ['image', 'file'],
  readAnswer: readTurnAnswer,
  openReader: (context) => new ResponsesEventReader(context),
  writeAnswer,
  openWriter: (context) => new ResponsesEventWriter(context),
  choices: null,
  openPlace: () => new ResponsesPlace(),
};

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const read = readFacts(input);
  if (!read.ok) return read;
  return succeed({
    facts: read.value.facts,
    framing: 'sse',
    // There is no such frame: usage comes with the end.
    wantsUsageFrame: false,
    names: (search) => namesIn(read.value.members, 'input', search),
    sessionClue: () => readSession(read.value),
    asks: () => readAsks(read.value),
    withoutTools: (left) => withoutTools(read.value.members, left),
    passThrough: (target) => passThrough(read.value, target),
  });
}

/** The responses API: `POST /v1/responses`, JSON and server-sent events with names and numbers. */
export const responses: ProtocolOf<'responses'> = {
  id: 'responses',
  platform: 'completions',
  endpoints: [{ method: 'POST', path: '/v1/responses', kind: 'call' }],
  usualPath: '/responses',
  // The least that is accepted there.
  smallestRequest: { outputTokens: 16, body: (model) => ({ model, input: 'Hi', max_output_tokens: 16 }) },
  unknownId,
  readRequest,
  readAnswer,
  readRefusal,
  openStream: (dialect) => new ResponsesStreamReader(dialect),
  encodeStreamError,
  keepAliveFrame: commentFrame,
  codec: responsesCodec,
};
