import { splice } from '../bytes/splice.ts';
import type { EncodedRequest, PassthroughTarget } from '../protocol.ts';
import { modelEdits } from '../request/edits.ts';
import type { ReadRequest } from './facts.ts';
import { upstreamHeaders } from './headers.ts';

/** The caller's bytes for one target: changed only where its alias needs it. */
export function passThrough(request: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const { facts, members, headers } = request;
  const edits = modelEdits(members.span('model'), facts.model, target.upstreamModel);
  return {
    headers: upstreamHeaders(headers, target.dialect),
    body: splice(members.body, edits),
    edits: edits.map((edit) => edit.name),
  };
}
