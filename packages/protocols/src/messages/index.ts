import { encodeStreamEnvelope } from '../envelope.ts';
import { type Fault, fault } from '../error.ts';
import type {
  EncodedRequest,
  Facts,
  InboundRequest,
  PassthroughTarget,
  RequestInput,
  SessionClue,
} from '../inbound-request.ts';
import { pingFrame } from '../keep-alive-frame.ts';
import type { Protocol } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { type Result, succeed } from '../result.ts';
import { readAnswer } from './answer.ts';
import { messagesCodec } from './codec/index.ts';
import { type ReadRequest, readFacts, readSession } from './facts.ts';
import { MessagesStreamReader } from './stream.ts';
import { passThrough } from './upstream.ts';

const encoder = new TextEncoder();

class MessagesRequest implements InboundRequest {
  readonly framing = 'sse';
  readonly #request: ReadRequest;
  readonly #search: string;
  /** There is no such frame: usage comes with the beginning and the end. */
  readonly wantsUsageFrame = false;

  constructor(request: ReadRequest, search: string) {
    this.#request = request;
    this.#search = search;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  sessionClue(): SessionClue | null {
    return readSession(this.#request);
  }

  passThrough(target: PassthroughTarget): EncodedRequest {
    return passThrough(this.#request, this.#search, target);
  }

  /** Threads live with one vendor's account. To leave the member out would break the caller's next turn (product.md). */
  refuse({ dialect }: PassthroughTarget): Fault | null {
    const isRefused = !dialect.threads && this.#request.members.kind('thread') !== 'null';
    return isRefused ? fault('thread_unsupported_request', { param: 'thread' }) : null;
  }
}

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const request = readFacts(input);
  return request.ok ? succeed(new MessagesRequest(request.value, input.search)) : request;
}

/** The messages API: `POST /v1/messages`, JSON and server-sent events with names, and `POST /v1/messages/count_tokens`. */
export const messages: Protocol = {
  id: 'messages',
  readRequest,
  readAnswer: (body, _dialect, work = 'answer') => readAnswer(body, work),
  encodeTokenCount: (tokens) => encoder.encode(JSON.stringify({ input_tokens: tokens })),
  readRefusal,
  openStream: (dialect) => new MessagesStreamReader(dialect),
  encodeStreamError: (fault, traceId) => encodeStreamEnvelope('messages', fault, traceId),
  keepAliveFrame: pingFrame,
  codec: messagesCodec,
};
