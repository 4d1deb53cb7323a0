import { isForm } from '../bytes/multipart.ts';
import { errorEnvelope } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type {
  EncodedRequest,
  Facts,
  InboundRequest,
  PassthroughTarget,
  RequestInput,
} from '../inbound-request.ts';
import { commentFrame } from '../keep-alive-frame.ts';
import type { Protocol } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import { type Result, succeed } from '../result.ts';
import { readAnswer } from './answer.ts';
import { type ReadRequest, readJson } from './facts.ts';
import { readFormRequest } from './form.ts';
import { ImagesStreamReader } from './stream.ts';
import { passThrough, refusePath } from './upstream.ts';
import type { ImageOperation } from './wire.ts';

class ImagesRequest implements InboundRequest {
  readonly framing = 'sse';
  /** There is no such frame: usage comes with each image. */
  readonly wantsUsageFrame = false;
  /** An image is made and paid for whether or not anyone hears of it. */
  readonly repeatable = false;
  readonly #request: ReadRequest;
  readonly #operation: ImageOperation;

  constructor(request: ReadRequest, operation: ImageOperation) {
    this.#request = request;
    this.#operation = operation;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  refuse({ path }: PassthroughTarget): Fault | null {
    return refusePath(this.#operation, path);
  }

  passThrough(target: PassthroughTarget): EncodedRequest {
    return passThrough(this.#request, this.#operation, target);
  }
}

function readRequest({ body, header, path }: RequestInput): Result<InboundRequest, Fault> {
  const operation = path.endsWith('/edits') ? 'edits' : 'generations';
  const contentType = header('content-type') ?? '';
  const request = isForm(contentType) ? readFormRequest(body, contentType) : readJson(body);
  return request.ok ? succeed(new ImagesRequest(request.value, operation)) : request;
}

const encoder = new TextEncoder();

function encodeStreamError(fault: Fault, traceId: string): Uint8Array {
  const data = { type: 'error', ...errorEnvelope('completions', fault, traceId) };
  return encoder.encode(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The images API: `POST /v1/images/generations` and `/v1/images/edits`, JSON and forms, whole and in drafts. */
export const images: Protocol = {
  id: 'images',
  readRequest,
  readAnswer,
  readRefusal,
  openStream: (_dialect, _framing, choices) => new ImagesStreamReader(choices ?? 1),
  encodeStreamError,
  keepAliveFrame: commentFrame,
  codec: null,
};
