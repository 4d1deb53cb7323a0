import { encodeStreamEnvelope } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type {
  EncodedRequest,
  Facts,
  HeaderLookup,
  InboundRequest,
  PassthroughTarget,
  Protocol,
} from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { type Result, succeed } from '../result.ts';
import { readAnswer } from './answer.ts';
import { type ReadRequest, readFacts } from './facts.ts';
import { MessagesStreamReader } from './stream.ts';
import { passThrough } from './upstream.ts';

class MessagesRequest implements InboundRequest {
  readonly #request: ReadRequest;
  /** There is no such frame: usage comes with the beginning and the end. */
  readonly wantsUsageFrame = false;

  constructor(request: ReadRequest) {
    this.#request = request;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  passThrough(target: PassthroughTarget): EncodedRequest {
    return passThrough(this.#request, target);
  }
}

function readRequest(body: Uint8Array, header: HeaderLookup): Result<InboundRequest, Fault> {
  const request = readFacts(body, header);
  return request.ok ? succeed(new MessagesRequest(request.value)) : request;
}

/** The messages API: `POST /v1/messages`, JSON and server-sent events with names. */
export const messages: Protocol = {
  id: 'messages',
  forwardedQuery: ['beta'],
  readRequest,
  readAnswer,
  readRefusal,
  openStream: (dialect) => new MessagesStreamReader(dialect),
  encodeStreamError: (fault, traceId) => encodeStreamEnvelope('messages', fault, traceId),
};
