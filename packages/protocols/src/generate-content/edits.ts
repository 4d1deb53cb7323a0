import { decodeString, KeyNames, type TextSpan } from '../bytes/json-text.ts';
import { findBeginning, skipString } from '../bytes/scan.ts';
import type { Edit } from '../bytes/splice.ts';
import { editedRequest, fillPath, replace } from '../request/edits.ts';
import type { EncodedRequest, PassthroughTarget, StreamFraming } from '../request.ts';
import { type ReadRequest, textIn } from './request.ts';
import { foreignCallSignature, markedBeginning, readSignature } from './signature.ts';

/** The caller's bytes for one target, under the target's name for the model. */
export function passThrough(request: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const { facts, action, framing } = request;
  const { body } = request.members;
  const edits = [
    ...modelEdits(request, target.upstreamModel),
    ...(target.edits ?? []),
    ...(request.members.hasMark ? signatureEdits(body, target.origin) : []),
  ];
  return editedRequest(pathOf(target, action, facts.stream ? framing : null), body, edits);
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
function modelEdit(body: Uint8Array, span: TextSpan, model: string, upstreamModel: string): readonly Edit[] {
  const written = textIn(body, span);
  if (written !== model && written !== `models/${model}`) return [];
  const name = written === model ? upstreamModel : `models/${upstreamModel}`;
  return [replace('model', span.start, span.end, JSON.stringify(name))];
}

const names = new KeyNames(['thoughtSignature', 'thought_signature']);
const nameLengths = ['thoughtSignature'.length, 'thought_signature'.length];

/**
 * All that has to change in seals that targets of other protocols had made, and that this caller got under our mark: those of
 * this target get their own words back, in the place of others stands the one that is not checked. It is asked for
 * only where the scan has seen the mark.
 */
export function signatureEdits(body: Uint8Array, origin: string): readonly Edit[] {
  const edits: Edit[] = [];
  let at = findBeginning(body, markedBeginning, 0, body.length);
  while (at !== -1) {
    const end = skipString(body, at);
    if (end < 0) break;
    const text = isSignature(body, at) ? decodeString(body, at, end) : null;
    if (text !== null) edits.push(replace('foreign-state', at, end, JSON.stringify(restored(text, origin))));
    at = findBeginning(body, markedBeginning, end, body.length);
  }
  return edits;
}

function restored(text: string, origin: string): string {
  const sealed = readSignature(text);
  return sealed !== null && sealed.origin === origin ? sealed.data : foreignCallSignature;
}

/** The string at `at` is the value of a signature's member: other texts may begin like that, too. */
function isSignature(body: Uint8Array, at: number): boolean {
  const colon = spaceBack(body, at - 1);
  const keyEnd = spaceBack(body, colon - 1);
  if (body[colon] !== 0x3a || body[keyEnd] !== 0x22) return false;
  return nameLengths.some(
    (length) => body[keyEnd - length - 1] === 0x22 && names.find(body, keyEnd - length, keyEnd) !== null,
  );
}

function spaceBack(body: Uint8Array, at: number): number {
  while (at > 0 && (body[at] ?? 0) <= 0x20) at--;
  return at;
}
