import { KeyNames } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import type { Edit } from '../bytes/splice.ts';
import { type ElementSpan, editedRequest, leaveOut, modelEdits } from '../request/edits.ts';
import type { RequestMembers } from '../request/members.ts';
import type { EncodedRequest, PassthroughTarget } from '../request.ts';
import { hasSealed, markSealed, readSealed } from '../translate/seals.ts';
import type { Sealed } from '../turn.ts';
import type { ReadRequest } from './request.ts';
import type { RequestMember } from './wire.ts';

/** The caller's bytes for one target: changed only where its alias needs it, and where state is another's. */
export function passThrough({ facts, members }: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const edits = [
    ...modelEdits(members.span('model'), facts.model, target.upstreamModel),
    ...(target.edits ?? []),
    ...foreignStateEdits(members),
  ];
  return editedRequest(target.path, members.body, edits);
}

const sealedName = new KeyNames(['encrypted_content']);

/**
 * Leaves out the items that hold what a target of another protocol has sealed: an upstream of this one refuses them, and
 * the conversation goes on without. Nothing where the mark is nowhere, which the scan of the body tells.
 */
function foreignStateEdits(members: RequestMembers<RequestMember>): readonly Edit[] {
  const span = members.span('input');
  if (span === undefined || !members.hasMark) return [];
  const reader = new JsonReader(members.body, span.start, members.longTexts);
  if (!reader.enterArray()) return [];
  const items: ElementSpan[] = [];
  while (reader.nextElement()) {
    const start = reader.at;
    const isLeftOut = holdsMark(reader);
    items.push({ start, end: reader.at, isLeftOut });
  }
  return leaveOut('foreign-state', items);
}

/** Goes through the item at hand. */
function holdsMark(reader: JsonReader): boolean {
  let isMarked = false;
  if (!reader.enterObject()) return false;
  while (reader.nextMember()) {
    const { bytes, keyStart, keyEnd, at } = reader;
    const end = reader.skip();
    const isSealed = sealedName.find(bytes, keyStart, keyEnd) !== null;
    if (isSealed && hasSealed(bytes, at, end)) isMarked = true;
  }
  return isMarked;
}

/**
 * Sealed state of other protocols on its way through this one's `encrypted_content`, the only place that clients hand back
 * as it was. Behind our mark a letter says what the state belongs to: clients keep neither empty summaries nor ids.
 */
const letters = { signature: 's', redacted: 'r', call: 'c' } as const;

/** `call`: it came with the tool call before it, in an item of its own. */
export type CarriedAs = keyof typeof letters;

export function carry(sealed: Sealed, as: CarriedAs): string {
  return markSealed({ ...sealed, data: letters[as] + sealed.data });
}

/** State as the caller sends it; null when it bears our mark and is nothing we have made. */
export function unpack(text: string): { readonly sealed: Sealed; readonly as: CarriedAs } | null {
  const marked = readSealed(text, 'signature');
  if (marked.origin === 'native') return { sealed: marked, as: 'signature' };
  const sealed = { ...marked, data: marked.data.slice(1) };
  switch (marked.data.charAt(0)) {
    case letters.signature:
      return { sealed, as: 'signature' };
    case letters.redacted:
      return { sealed: { ...sealed, form: 'redacted' }, as: 'redacted' };
    case letters.call:
      return { sealed, as: 'call' };
    default:
      return null;
  }
}
