import { BytePattern } from '../bytes/byte-pattern.ts';
import { skipString } from '../bytes/json-skip.ts';
import { decodeString, KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import { replace } from '../request/edits.ts';
import { foreignCallSignature, markedBeginning, readSignature } from './codec/signature.ts';

const marked = new BytePattern(`"${markedBeginning}`);
const names = new KeyNames(['thoughtSignature', 'thought_signature']);
const nameLengths = ['thoughtSignature'.length, 'thought_signature'.length];

/**
 * What has to change in seals that targets of other protocols had made, and that this caller got under our mark: those of
 * this target get their own words back, in the place of others stands the one that is not checked. Nothing where the mark
 * is nowhere, which one fast look at the body tells.
 */
export function signatureEdits(body: Uint8Array, origin: string): readonly Edit[] {
  const edits: Edit[] = [];
  let at = marked.find(body, 0, body.length);
  while (at !== -1) {
    const end = skipString(body, at);
    if (end < 0) break;
    const text = isSignature(body, at) ? decodeString(body, at, end) : null;
    if (text !== null) edits.push(replace('foreign-state', at, end, JSON.stringify(restored(text, origin))));
    at = marked.find(body, end, body.length);
  }
  return edits;
}

function restored(text: string, origin: string): string {
  const sealed = readSignature(text);
  return sealed !== null && sealed.origin === origin ? sealed.data : foreignCallSignature;
}

/** Whether the string that begins at `at` is the value of a signature's member: other texts may begin like that, too. */
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
