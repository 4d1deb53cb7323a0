import { markSealed, readSealed } from '../../translate/sealed-mark.ts';
import type { Sealed } from '../../turn.ts';

/**
 * Sealed state of other protocols on its way through this one's `thoughtSignature`. It must be base64 there, since SDKs
 * decode it; which alphabet they encode it in again is up to them. Behind our mark a letter says what the state stands for.
 */
const letters = { signature: 's', redacted: 'r' } as const;

/** What our mark begins with in base64. */
const markedPrefix = /^Z3cxL/;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function carriedSignature(sealed: Sealed): string {
  return encoder.encode(markSealed({ ...sealed, data: letters[sealed.form] + sealed.data })).toBase64();
}

/** State as the caller sends it; null when there is none, or what bears our mark is nothing we have made. */
export function readSignature(wire: unknown): Sealed | null {
  if (typeof wire !== 'string' || wire === '') return null;
  if (!markedPrefix.test(wire)) return { origin: 'native', data: wire, form: 'signature' };
  const sealed = readSealed(decodeBase64(wire) ?? '', 'signature');
  const data = sealed.data.slice(1);
  if (sealed.origin === 'native') return null;
  switch (sealed.data.charAt(0)) {
    case letters.signature:
      return { ...sealed, data };
    case letters.redacted:
      return { ...sealed, data, form: 'redacted' };
    default:
      return null;
  }
}

/** Of either alphabet; null for anything else. */
function decodeBase64(text: string): string | null {
  try {
    const standard = text.replaceAll('-', '+').replaceAll('_', '/');
    return decoder.decode(Uint8Array.fromBase64(standard));
  } catch {
    return null;
  }
}
