import { JsonReader } from '../bytes/json-reader.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import { type ElementSpan, leaveOut } from '../request/element-edits.ts';
import type { RequestMembers } from '../request/request-members.ts';
import { markPattern } from '../translate/sealed-mark.ts';
import type { RequestMember } from './wire.ts';

const sealedName = new KeyNames(['encrypted_content']);

/**
 * Leaves out the items that hold what a target of another protocol has sealed: an upstream of this one refuses them, and
 * the conversation goes on without. Nothing where the mark is nowhere, which one fast look at the input tells.
 */
export function foreignStateEdits(members: RequestMembers<RequestMember>): readonly Edit[] {
  const span = members.span('input');
  if (span === undefined || markPattern.find(members.body, span.start, span.end) === -1) return [];
  const reader = new JsonReader(members.body, span.start);
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
    if (isSealed && markPattern.find(bytes, at, end) === at) isMarked = true;
  }
  return isMarked;
}
