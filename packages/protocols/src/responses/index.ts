import type { Fault } from '../error.ts';
import type {
  EncodedRequest,
  Facts,
  InboundRequest,
  PassthroughTarget,
  RequestInput,
  SessionClue,
} from '../inbound-request.ts';
import { commentFrame } from '../keep-alive-frame.ts';
import type { Protocol } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { type Result, succeed } from '../result.ts';
import { readAnswer } from './answer.ts';
import { responsesCodec } from './codec/index.ts';
import { type ReadRequest, readFacts, readSession } from './facts.ts';
import { ResponsesStreamReader } from './stream.ts';
import { encodeStreamError } from './stream-error.ts';
import { passThrough } from './upstream.ts';

class ResponsesRequest implements InboundRequest {
  readonly framing = 'sse';
  /** There is no such frame: usage comes with the end. */
  readonly wantsUsageFrame = false;
  readonly #request: ReadRequest;

  constructor(request: ReadRequest) {
    this.#request = request;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  sessionClue(): SessionClue | null {
    return readSession(this.#request);
  }

  passThrough(target: PassthroughTarget): EncodedRequest {
    return passThrough(this.#request, target);
  }
}

function readRequest({ body }: RequestInput): Result<InboundRequest, Fault> {
  const request = readFacts(body);
  return request.ok ? succeed(new ResponsesRequest(request.value)) : request;
}

/** The responses API: `POST /v1/responses`, JSON and server-sent events with names and numbers. */
export const responses: Protocol = {
  id: 'responses',
  readRequest,
  readAnswer,
  readRefusal,
  openStream: () => new ResponsesStreamReader(),
  encodeStreamError,
  keepAliveFrame: commentFrame,
  codec: responsesCodec,
};
