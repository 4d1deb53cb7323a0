import type { Codec } from '../codec.ts';
import { encodeStreamEnvelope, pingFrame } from '../envelope.ts';
import { type Fault, fault } from '../error.ts';
import type { ProtocolOf } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { withoutTools } from '../request/asks.ts';
import { namesIn } from '../request/named-models.ts';
import type { InboundRequest, PassthroughTarget, RequestInput } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { weighLosses } from '../translate/least-loss.ts';
import { writeAnswer } from './answer.ts';
import { passThrough } from './edits.ts';
import { readAnswer } from './meter.ts';
import { MessagesPlace } from './place.ts';
import { MessagesEventReader, readTurnAnswer } from './read-events.ts';
import { readTurn } from './read-messages.ts';
import { type ReadRequest, readAsks, readFacts, readSession } from './request.ts';
import { MessagesStreamReader } from './stream.ts';
import { messagesSurface, upstreamHeaders } from './wire.ts';
import { MessagesEventWriter } from './write-events.ts';
import { supportOf, writeTurn } from './write-messages.ts';
import { thoughtWords } from './write-settings.ts';

const encoder = new TextEncoder();

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const read = readFacts(input);
  if (!read.ok) return read;
  return succeed({
    facts: read.value.facts,
    framing: 'sse',
    // There is no such frame: usage comes with the beginning and the end.
    wantsUsageFrame: false,
    names: (search) => namesIn(read.value.members, 'messages', search),
    sessionClue: () => readSession(read.value),
    asks: () => readAsks(read.value),
    withoutTools: (left) => withoutTools(read.value.members, left),
    passThrough: (target) => passThrough(read.value, input.search, target),
    refuse: (target) => refuse(read.value, target),
  });
}

/** Threads live with one vendor's account. To leave the member out would break the caller's next turn (product.md). */
function refuse({ members }: ReadRequest, { dialect }: PassthroughTarget): Fault | null {
  const isRefused = !dialect.threads && members.kind('thread') !== 'null';
  return isRefused ? fault('thread_unsupported_request', { param: 'thread' }) : null;
}

/** The messages protocol to and from the canonical form. */
export const messagesCodec: Codec = {
  surface: messagesSurface,
  repeatsRequest: false,
  readTurn,
  writeTurn,
  weighLosses: (turn, target) => weighLosses(turn, target, supportOf(turn)),
  thoughtWords,
  mediaByUrl: ['image', 'file'],
  readAnswer: readTurnAnswer,
  openReader: (context) => new MessagesEventReader(context),
  writeAnswer,
  openWriter: (context) => new MessagesEventWriter(context),
  choices: null,
  openPlace: () => new MessagesPlace(),
};

/** The messages API: `POST /v1/messages`, JSON and server-sent events with names, and `POST /v1/messages/count_tokens`. */
export const messages: ProtocolOf<'messages'> = {
  id: 'messages',
  platform: 'messages',
  endpoints: [
    { method: 'POST', path: '/v1/messages', kind: 'call' },
    { method: 'POST', path: '/v1/messages/count_tokens', kind: 'count-tokens' },
  ],
  territory: /^\/v1\/messages(\/|$)/,
  usualPath: '/messages',
  smallestRequest: {
    outputTokens: 1,
    body: (model) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  },
  headersFor: (dialect) => upstreamHeaders({ version: null, betas: null }, dialect),
  readRequest,
  readAnswer: (body, dialect, work = 'answer') => readAnswer(body, dialect, work),
  encodeTokenCount: (tokens) => encoder.encode(JSON.stringify({ input_tokens: tokens })),
  readRefusal,
  openStream: (dialect) => new MessagesStreamReader(dialect),
  encodeStreamError: (fault, traceId) => encodeStreamEnvelope('messages', fault, traceId),
  keepAliveFrame: pingFrame,
  codec: messagesCodec,
};
