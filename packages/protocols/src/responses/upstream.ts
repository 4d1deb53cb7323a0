import { splice } from '../bytes/splice.ts';
import type { EncodedRequest, PassthroughTarget } from '../inbound-request.ts';
import { modelEdits } from '../request/edits.ts';
import { jsonType } from '../request/upstream-request.ts';
import type { ReadRequest } from './facts.ts';
import { foreignStateEdits } from './foreign-state.ts';

/** The caller's bytes for one target: changed only where its alias needs it, and where state is another's. */
export function passThrough({ facts, members }: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const edits = [
    ...modelEdits(members.span('model'), facts.model, target.upstreamModel),
    ...foreignStateEdits(members),
  ];
  // No headers: they name the caller's own account at a provider, or its own retries; ours are the channel's.
  return {
    path: target.path,
    contentType: jsonType,
    headers: [],
    body: splice(members.body, edits),
    edits: edits.map((edit) => edit.name),
  };
}
