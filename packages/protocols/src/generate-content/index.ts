import { concatBytes } from '../bytes/splice.ts';
import type { Codec } from '../codec.ts';
import { encodeError } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type { ProtocolEndpoint, ProtocolOf } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { namesIn } from '../request/named-models.ts';
import type { InboundRequest, RequestInput, StreamFraming } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { ChunkedChoices } from '../translate/choices.ts';
import { weighLosses } from '../translate/least-loss.ts';
import { passThrough } from './edits.ts';
import { readAnswer } from './meter.ts';
import { NativePlace } from './place.ts';
import { NativeEventReader, readChunk, readTurnAnswer } from './read-events.ts';
import { readTurn } from './read-messages.ts';
import { readAsks, readFacts, readSession } from './request.ts';
import { GenerateContentStreamReader } from './stream.ts';
import { generateContentSurface } from './wire.ts';
import { NativeEventWriter, openNativeWriters, writeAnswer } from './write-events.ts';
import { supportOf, writeTurn } from './write-messages.ts';
import { thoughtWords } from './write-settings.ts';

const encoder = new TextEncoder();

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const read = readFacts(input);
  if (!read.ok) return read;
  return succeed({
    facts: read.value.facts,
    framing: read.value.framing,
    // Usage is on every chunk, and there is no frame of it alone.
    wantsUsageFrame: true,
    names: (search) => namesIn(read.value.members, 'contents', search),
    sessionClue: () => readSession(read.value),
    asks: () => readAsks(read.value),
    passThrough: (target) => passThrough(read.value, target),
  });
}

function readsUnder(prefix: string): readonly ProtocolEndpoint[] {
  return [
    { method: 'GET', path: `${prefix}/models`, kind: 'models' },
    { method: 'GET', path: `${prefix}/models/{model}`, kind: 'model' },
  ];
}

const actions = {
  generateContent: 'call',
  streamGenerateContent: 'call',
  countTokens: 'count-tokens',
  embedContent: 'embed',
  batchEmbedContents: 'embed',
} as const;

function actionsUnder(prefix: string): readonly ProtocolEndpoint[] {
  return Object.entries(actions).map(([action, kind]) => ({
    method: 'POST',
    path: `${prefix}/models/{model}:${action}`,
    kind,
  }));
}

/** The array stays open: whoever reads it to its end sees that it has none. */
function encodeStreamError(fault: Fault, traceId: string, framing: StreamFraming): Uint8Array {
  const [before, after] = framing === 'sse' ? ['data: ', '\r\n\r\n'] : [',\r\n', '\r\n'];
  const { body } = encodeError('native', fault, traceId);
  return concatBytes([encoder.encode(before), body, encoder.encode(after)]);
}

/** The generate-content API to and from the canonical form. */
export const generateContentCodec: Codec = {
  surface: generateContentSurface,
  repeatsRequest: false,
  readTurn,
  writeTurn,
  weighLosses: (turn, target) => weighLosses(turn, target, supportOf(turn, target)),
  thoughtWords,
  // It opens its vendor's own files by URI, and nothing else.
  mediaByUrl: [],
  readAnswer: readTurnAnswer,
  openReader: (context) => new NativeEventReader(context),
  writeAnswer,
  openWriter: (context) => new NativeEventWriter(context),
  choices: {
    openReader: (context, choices) =>
      new ChunkedChoices(choices, readChunk, (index) => new NativeEventReader(context, index)),
    openWriters: openNativeWriters,
  },
  openPlace: () => new NativePlace(),
};

/**
 * The generate-content API: `POST /v1beta/models/{model}:{action}`, JSON, and streams that are server-sent events or one
 * JSON array.
 */
export const generateContent: ProtocolOf<'generate-content'> = {
  id: 'generate-content',
  platform: 'native',
  endpoints: [
    ...['/v1beta', '/v1alpha'].flatMap(readsUnder),
    // The current official SDK calls /v1.
    ...['/v1beta', '/v1alpha', '/v1'].flatMap(actionsUnder),
  ],
  territory: /^\/v1(beta|alpha)(\/|$)|^\/v1\/models\/[^/]*:[a-zA-Z]+$/,
  usualPath: '/models/{model}:{action}',
  // The model is in the path.
  smallestRequest: {
    outputTokens: 1,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 1 },
    }),
  },
  unknownId: () => ({
    kind: 'answer-missing',
    status: 403,
    message: 'CachedContent not found (or permission denied)',
    type: 'PERMISSION_DENIED',
    code: null,
    param: null,
  }),
  readRequest,
  readAnswer: (body, _dialect, work = 'answer') => readAnswer(body, work),
  encodeTokenCount: (tokens) => encoder.encode(JSON.stringify({ totalTokens: tokens })),
  readRefusal,
  openStream: (_dialect, framing = 'sse') => new GenerateContentStreamReader(framing),
  encodeStreamError,
  keepAliveFrame: null,
  codec: generateContentCodec,
};
