import { isForm } from '../bytes/multipart.ts';
import { commentFrame, errorEnvelope } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type { ProtocolOf } from '../protocol.ts';
import { readRefusal } from '../refusal.ts';
import type { InboundRequest, RequestInput } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { passThrough, readFormRequest, readJson, refusePath } from './request.ts';
import { ImagesStreamReader, readAnswer } from './stream.ts';

function readRequest(input: RequestInput): Result<InboundRequest, Fault> {
  const { header, path } = input;
  const operation = path.endsWith('/edits') ? 'edits' : 'generations';
  const contentType = header('content-type') ?? '';
  const read = isForm(contentType) ? readFormRequest(input, contentType) : readJson(input);
  if (!read.ok) return read;
  return succeed({
    facts: read.value.facts,
    framing: 'sse',
    // There is no such frame: usage comes with each image.
    wantsUsageFrame: false,
    // An image is made and paid for whether or not anyone hears of it.
    repeatable: false,
    names: (search) => read.value.names(search),
    refuse: (target) => refusePath(operation, target.path),
    passThrough: (target) => passThrough(read.value, operation, target),
  });
}

const encoder = new TextEncoder();

function encodeStreamError(fault: Fault, traceId: string): Uint8Array {
  const data = { type: 'error', ...errorEnvelope('completions', fault, traceId) };
  return encoder.encode(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The images API: `POST /v1/images/generations` and `/v1/images/edits`, JSON and forms, whole and in drafts. */
export const images: ProtocolOf<'images'> = {
  id: 'images',
  platform: 'completions',
  endpoints: [
    { method: 'POST', path: '/v1/images/generations', kind: 'call' },
    { method: 'POST', path: '/v1/images/edits', kind: 'call', takesForms: true },
  ],
  usualPath: '/images/{operation}',
  smallestRequest: null,
  readRequest,
  readAnswer,
  readRefusal,
  openStream: (_dialect, _framing, choices) => new ImagesStreamReader(choices ?? 1),
  encodeStreamError,
  keepAliveFrame: commentFrame,
  codec: null,
};
