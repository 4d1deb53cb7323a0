import { encodeStreamEnvelope } from '../envelope.ts';
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
import { chatCompletionsCodec } from './codec/index.ts';
import { type ReadRequest, readFacts, readSession } from './facts.ts';
import { ChatStreamReader } from './stream.ts';
import { passThrough } from './upstream.ts';

class ChatRequest implements InboundRequest {
  readonly framing = 'sse';
  readonly #request: ReadRequest;

  constructor(request: ReadRequest) {
    this.#request = request;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  get wantsUsageFrame(): boolean {
    return this.#request.streamOptions?.includeUsage === true;
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
  return request.ok ? succeed(new ChatRequest(request.value)) : request;
}

/** The chat completions API: `POST /v1/chat/completions`, JSON and server-sent events. */
export const chatCompletions: Protocol = {
  id: 'chat-completions',
  readRequest,
  readAnswer,
  readRefusal,
  openStream: (dialect) => new ChatStreamReader(dialect),
  encodeStreamError: (fault, traceId) => encodeStreamEnvelope('completions', fault, traceId),
  keepAliveFrame: commentFrame,
  codec: chatCompletionsCodec,
};
