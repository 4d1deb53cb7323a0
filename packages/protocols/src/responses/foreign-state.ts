import type { JsonReader } from '../bytes/json-reader.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import { type ElementSpan, leaveOut } from '../request/element-edits.ts';
import { isMarkedAt } from '../translate/sealed-mark.ts';

const sealedName = new KeyNames(['encrypted_content']);

/**
 * Leaves out the items that hold what a target of another protocol has sealed: an upstream of this one refuses them, and
 * the conversation goes on without. `reader` is at the input; null when there is none.
 */
export function foreignStateEdits(reader: JsonReader | null): readonly Edit[] {
  if (reader?.kind !== 'array' || !reader.enterArray()) return [];
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
    const isSealed = sealedName.find(reader.bytes, reader.keyStart, reader.keyEnd) !== null;
    if (isSealed && isMarkedAt(reader.bytes, reader.at)) isMarked = true;
    reader.skip();
  }
  return isMarked;
}
