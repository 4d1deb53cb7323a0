import { type Edit, splice } from '../bytes/splice.ts';
import type { EncodedRequest, PassthroughTarget, StreamFraming } from '../inbound-request.ts';
import { replace } from '../request/edits.ts';
import { fillPath, jsonType } from '../request/upstream-request.ts';
import { type ReadRequest, type Span, textIn } from './facts.ts';
import { signatureEdits } from './signature-edits.ts';

/** The caller's bytes for one target, under the target's name for the model. */
export function passThrough(request: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const { facts, action, framing } = request;
  const { body } = request.members;
  const edits = [...modelEdits(request, target.upstreamModel), ...signatureEdits(body, target.origin)];
  return {
    path: pathOf(target, action, facts.stream ? framing : null),
    contentType: jsonType,
    // None: they name the caller's own account at a provider, or its SDK; ours are the channel's.
    headers: [],
    body: splice(body, edits),
    edits: edits.map((edit) => edit.name),
  };
}

/** A target's path for an action; `framing` is null when nothing is streamed. */
export function pathOf(
  { path, upstreamModel }: { readonly path: string; readonly upstreamModel: string },
  action: string,
  framing: StreamFraming | null,
): string {
  const filled = fillPath(path, upstreamModel, action);
  if (framing !== 'sse') return filled;
  return `${filled}${filled.includes('?') ? '&' : '?'}alt=sse`;
}

function modelEdits({ facts, members, modelSpans }: ReadRequest, upstreamModel: string): readonly Edit[] {
  if (facts.model === upstreamModel) return [];
  return modelSpans.flatMap((span) => modelEdit(members.body, span, facts.model, upstreamModel));
}

/** Another model than that of the path is the caller's mistake, and the upstream's to name. */
function modelEdit(body: Uint8Array, span: Span, model: string, upstreamModel: string): readonly Edit[] {
  const written = textIn(body, span);
  if (written !== model && written !== `models/${model}`) return [];
  const name = written === model ? upstreamModel : `models/${upstreamModel}`;
  return [replace('model', span.start, span.end, JSON.stringify(name))];
}
