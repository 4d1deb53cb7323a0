import type { Codec } from '../codec.ts';
import { commentFrame, encodeStreamEnvelope } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type { ProtocolOf } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { withoutTools } from '../request/asks.ts';
import { namesIn } from '../request/named-models.ts';
import type { InboundRequest, RequestInput } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { ChunkedChoices } from '../translate/choices.ts';
import { passThrough } from './edits.ts';
import { ChatPlace } from './place.ts';
import { ChatEventReader, readChunk, readTurnAnswer } from './read-events.ts';
import { readTurn } from './read-messages.ts';
import { readAsks, readFacts, readSession } from './request.ts';
import { ChatStreamReader, readAnswer } from './stream.ts';
import { chatSurface } from './wire.ts';
import { ChatEventWriter, writeAnswer } from './write-events.ts';
import { writeTurn } from './write-messages.ts';
import { isThoughtful, thoughtWords, weighChatLosses, writeLeastThought } from './write-settings.ts';

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const read = readFacts(input);
  if (!read.ok) return read;
  return succeed({
    facts: read.value.facts,
    framing: 'sse',
    wantsUsageFrame: read.value.streamOptions?.includeUsage === true,
    names: (search) => namesIn(read.value.members, 'messages', search),
    sessionClue: () => readSession(read.value),
    asks: () => readAsks(read.value),
    withoutTools: (left) => withoutTools(read.value.members, left),
    passThrough: (target) => passThrough(read.value, target),
  });
}

export const chatCompletionsCodec: Codec = {
  surface: chatSurface,
  repeatsRequest: false,
  readTurn,
  writeTurn,
  weighLosses: weighChatLosses,
  thoughtWords,
  mediaByUrl: ['image'],
  readAnswer: readTurnAnswer,
  openReader: (context) => new ChatEventReader(context),
  writeAnswer,
  openWriter: (context) => new ChatEventWriter(context),
  choices: {
    openReader: (context, choices) =>
      new ChunkedChoices(choices, readChunk, (index) => new ChatEventReader(context, index)),
    openWriters: (context, choices) =>
      Array.from({ length: choices }, (_, index) => new ChatEventWriter(context, null, index)),
  },
  openPlace: () => new ChatPlace(),
};

/** A model that thinks refuses a limit that its thoughts fill; it takes no more of this than it needs. Tokens. */
const thoughtfulTokens = 1_024;

/** The chat completions API: `POST /v1/chat/completions`, JSON and server-sent events. */
export const chatCompletions: ProtocolOf<'chat-completions'> = {
  id: 'chat-completions',
  platform: 'completions',
  endpoints: [{ method: 'POST', path: '/v1/chat/completions', kind: 'call' }],
  usualPath: '/chat/completions',
  smallestRequest: {
    outputTokens: 1,
    body: (model, dialect, known) => ({
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      [dialect.maxTokensField === 'max_tokens' ? 'max_tokens' : 'max_completion_tokens']:
        known === null || !isThoughtful(known) ? 1 : thoughtfulTokens,
      ...(known === null ? {} : writeLeastThought(dialect, known)),
    }),
  },
  readRequest,
  readAnswer,
  readRefusal,
  openStream: (dialect, _framing, choices) => new ChatStreamReader(dialect, choices),
  encodeStreamError: (fault, traceId) => encodeStreamEnvelope('completions', fault, traceId),
  keepAliveFrame: commentFrame,
  codec: chatCompletionsCodec,
};
