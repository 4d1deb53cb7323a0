import { markSealed, readSealed } from '../../translate/sealed-mark.ts';
import type { Sealed } from '../../turn.ts';

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
