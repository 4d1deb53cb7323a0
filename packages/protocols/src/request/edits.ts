import type { Edit } from '../bytes/splice.ts';
import type { MemberSpan } from './request-members.ts';

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
