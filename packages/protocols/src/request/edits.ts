import { type Edit, splice } from '../bytes/splice.ts';
import type { EncodedRequest } from '../request.ts';
import type { MemberSpan } from './members.ts';

const encoder = new TextEncoder();

/** The alias a caller wrote gives way to the upstream's own name for the model. */
export function modelEdits(
  span: MemberSpan | undefined,
  model: string,
  upstreamModel: string,
): readonly Edit[] {
  if (span === undefined || model === upstreamModel) return [];
  return [replace('model', span.start, span.end, JSON.stringify(upstreamModel))];
}

export function replace(name: string, start: number, end: number, text: string): Edit {
  return { name, start, end, insert: encoder.encode(text) };
}

/** An element of a JSON list, where it stands. Bytes. */
export interface ElementSpan {
  readonly start: number;
  readonly end: number;
  readonly isLeftOut: boolean;
}

/** Leaves elements out of a list, with the commas that were due to them; `elements` are all of the list, in order. */
export function leaveOut(name: string, elements: readonly ElementSpan[]): readonly Edit[] {
  const edits: Edit[] = [];
  let isFirst = true;
  for (const [index, { start, end, isLeftOut }] of elements.entries()) {
    const next = elements[index + 1];
    const previous = elements[index - 1];
    if (!isLeftOut) isFirst = false;
    // As long as nothing is kept before it, the comma behind it goes with it; from then on, the one before it.
    else if (isFirst) edits.push(cut(name, start, next?.start ?? end));
    else edits.push(cut(name, previous?.end ?? start, end));
  }
  return edits;
}

function cut(name: string, start: number, end: number): Edit {
  return { name, start, end, insert: new Uint8Array(0) };
}

export const jsonType = 'application/json';

/** The path at an upstream, with the members of the caller's query that are meant for it; nothing else of it goes there. */
export function withQuery(path: string, search: string, forwarded: readonly string[]): string {
  if (search === '') return path;
  const given = new URLSearchParams(search);
  const members = forwarded.flatMap((name) => given.getAll(name).map((value) => [name, value]));
  if (members.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(members)}`;
}

/** A path in which placeholders stand for the model and for what is asked of it; one without them is complete as it is. */
export function fillPath(path: string, upstreamModel: string, action: string): string {
  return path
    .replace('{model}', () => encodeURIComponent(upstreamModel.toWellFormed()))
    .replace('{action}', () => action);
}

/**
 * A request with the caller's own body but for the edits. No headers unless the protocol itself has some: the caller's name its
 * own account at a provider, or its own retries; ours are the channel's.
 */
export function editedRequest(
  path: string,
  body: Uint8Array,
  edits: readonly Edit[],
  headers: readonly string[] = [],
  contentType: string = jsonType,
): EncodedRequest {
  const names: string[] = [];
  for (const { name } of edits) names.push(name);
  return { path, contentType, headers, body: splice(body, edits), edits: names };
}

/** A request whose body is written anew. */
export function jsonRequest(path: string, body: object, headers: readonly string[] = []): EncodedRequest {
  const bytes = encoder.encode(JSON.stringify(body));
  return { path, contentType: jsonType, headers, body: [bytes], edits: [] };
}
