import { splice } from '../bytes/splice.ts';
import type { EncodedRequest, PassthroughTarget } from '../inbound-request.ts';
import { modelEdits } from '../request/edits.ts';
import { jsonType, withQuery } from '../request/upstream-request.ts';
import type { ReadRequest } from './facts.ts';
import { upstreamHeaders } from './headers.ts';
import { thoughtEdits } from './thought-edits.ts';

/** Members of the caller's query that go upstream as sent. */
const forwardedQuery = ['beta'];

/** The caller's bytes for one target: changed only where its alias needs it, and thoughts that another protocol's target had. */
export function passThrough(request: ReadRequest, search: string, target: PassthroughTarget): EncodedRequest {
  const { facts, work, members, headers } = request;
  const edits = [
    ...modelEdits(members.span('model'), facts.model, target.upstreamModel),
    ...thoughtEdits(members, target.origin),
  ];
  return {
    path: withQuery(work === 'count' ? countingPath(target.path) : target.path, search, forwardedQuery),
    contentType: jsonType,
    headers: upstreamHeaders(headers, target.dialect),
    body: splice(members.body, edits),
    edits: [...new Set(edits.map((edit) => edit.name))],
  };
}

/** Tokens are counted below the path of answers. */
function countingPath(path: string): string {
  const end = path.includes('?') ? path.indexOf('?') : path.length;
  return `${path.slice(0, end)}/count_tokens${path.slice(end)}`;
}
