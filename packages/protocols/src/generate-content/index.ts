import { concatBytes } from '../bytes/concat-bytes.ts';
import { encodeError } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type {
  EncodedRequest,
  Facts,
  InboundRequest,
  PassthroughTarget,
  RequestInput,
  SessionClue,
  StreamFraming,
} from '../inbound-request.ts';
import type { Protocol } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { type Result, succeed } from '../result.ts';
import { readAnswer } from './answer.ts';
import { generateContentCodec } from './codec/index.ts';
import { type ReadRequest, readFacts, readSession } from './facts.ts';
import { GenerateContentStreamReader } from './stream.ts';
import { passThrough } from './upstream.ts';

const encoder = new TextEncoder();

class GenerateContentRequest implements InboundRequest {
  readonly #request: ReadRequest;
  /** Usage is on every chunk, and there is no frame of it alone. */
  readonly wantsUsageFrame = true;

  constructor(request: ReadRequest) {
    this.#request = request;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  get framing(): StreamFraming {
    return this.#request.framing;
  }

  sessionClue(): SessionClue | null {
    return readSession(this.#request);
  }

  passThrough(target: PassthroughTarget): EncodedRequest {
    return passThrough(this.#request, target);
  }
}

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const request = readFacts(input);
  return request.ok ? succeed(new GenerateContentRequest(request.value)) : request;
}

/** The array stays open: whoever reads it to its end sees that it has none. */
function encodeStreamError(fault: Fault, traceId: string, framing: StreamFraming): Uint8Array {
  const [before, after] = framing === 'sse' ? ['data: ', '\r\n\r\n'] : [',\r\n', '\r\n'];
  const { body } = encodeError('native', fault, traceId);
  return concatBytes([encoder.encode(before), body, encoder.encode(after)]);
}

/**
 * The generate-content API: `POST /v1beta/models/{model}:{action}`, JSON, and streams that are server-sent events or one
 * JSON array.
 */
export const generateContent: Protocol = {
  id: 'generate-content',
  readRequest,
  readAnswer: (body, _dialect, work = 'answer') => readAnswer(body, work),
  encodeTokenCount: (tokens) => encoder.encode(JSON.stringify({ totalTokens: tokens })),
  readRefusal,
  openStream: (_dialect, framing = 'sse') => new GenerateContentStreamReader(framing),
  encodeStreamError,
  keepAliveFrame: null,
  codec: generateContentCodec,
};
