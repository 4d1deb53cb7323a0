import type { TextSpan } from '../bytes/frame-template.ts';
import { JsonReader } from '../bytes/json-reader.ts';
import { KeyNames } from '../bytes/key-names.ts';
import { textMembers } from './wire.ts';

const deltaName = new KeyNames(['delta']);
const textNames = new KeyNames(textMembers);

/** Where the only text of a delta stands in its frame; null when the frame or the delta is not of the usual shape. */
export function findDeltaText(frame: Uint8Array): TextSpan | null {
  const reader = new JsonReader(frame, frame.indexOf(0x7b));
  let found: TextSpan | null = null;
  if (!reader.enterObject()) return null;
  while (reader.nextMember()) {
    if (deltaName.find(frame, reader.keyStart, reader.keyEnd) === null) reader.skip();
    else found = findText(reader);
  }
  return reader.isAtEnd() ? found : null;
}

function findText(reader: JsonReader): TextSpan | null {
  if (!reader.enterObject()) return null;
  let found: TextSpan | null = null;
  let others = 0;
  while (reader.nextMember()) {
    const isText = textNames.find(reader.bytes, reader.keyStart, reader.keyEnd) !== null;
    const { at: start, kind } = reader;
    const end = reader.skip();
    if (isText && kind === 'string') found = { start, end };
    else others++;
  }
  // Its type is the one other member of a plain delta.
  return others === 1 ? found : null;
}
