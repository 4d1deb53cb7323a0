import { parseJson } from '../refusal.ts';
import { markSealed, readSealed } from '../translate/seals.ts';
import type { ReasoningBlock, Sealed } from '../turn.ts';
import { listOf, stringOf } from '../wire-values.ts';

/**
 * Sealed state of other protocols on its way through this one's `thoughtSignature`. It must be base64 there, since SDKs
 * decode it; which alphabet they encode it in again is up to them. Behind our mark a letter says what the state stands for.
 */
const letters = { signature: 's', redacted: 'r', thoughts: 't' } as const;

/** Models that seal their calls refuse one of the turn at hand without a seal, unless this stands in its place. */
export const foreignCallSignature = 'skip_thought_signature_validator';

const encoder = new TextEncoder();
/** Our mark in base64 begins like this, in either alphabet. */
const markWord = 'Z3cxL';
export const markedBeginning = encoder.encode(markWord);
const decoder = new TextDecoder();

export function carriedSignature(sealed: Sealed): string {
  return inBase64({ ...sealed, data: letters[sealed.form] + sealed.data });
}

/** A thought that its model has sealed. */
export type SealedThought = ReasoningBlock & { readonly sealed: Sealed };

/**
 * Thoughts with all that belongs to them, as the signature of the call they led to: agents hand back the calls of this
 * protocol, where its vendor has the state, and no thoughts. All are of one origin. Null for none.
 */
export function carriedThoughts(thoughts: readonly SealedThought[]): string | null {
  const [first] = thoughts;
  if (first === undefined) return null;
  const told = thoughts.map(({ text, sealed }) => [sealed.form, sealed.data, text]);
  return inBase64({ ...first.sealed, data: letters.thoughts + JSON.stringify(told) });
}

/**
 * Our mark alone, for a call of a model that seals none: models of this protocol refuse a call without a seal, and by the
 * mark it is known for a foreign one when it comes back.
 */
export function unsealedSignature(): string {
  return inBase64({ origin: 'none', data: '', form: 'signature' });
}

/** State as the caller sends it; null when there is none, or what bears our mark is nothing we have made. */
export function readSignature(wire: unknown): Sealed | null {
  if (typeof wire !== 'string' || wire === '') return null;
  const marked = readMarked(wire);
  if (marked === null) return { origin: 'native', data: wire, form: 'signature' };
  const data = marked.data.slice(1);
  switch (marked.data.charAt(0)) {
    case letters.signature:
      return { ...marked, data };
    case letters.redacted:
      return { ...marked, data, form: 'redacted' };
    default:
      return null;
  }
}

/** The thoughts that a call brings with it, in order; none from any other signature. */
export function readThoughts(wire: unknown): readonly SealedThought[] {
  const marked = typeof wire === 'string' ? readMarked(wire) : null;
  if (marked === null || marked.data.charAt(0) !== letters.thoughts) return [];
  return listOf(parseJson(marked.data.slice(1))).flatMap((told) => {
    const [form, data, text] = listOf(told).map(stringOf);
    if (typeof data !== 'string' || typeof text !== 'string') return [];
    const sealed: Sealed = { ...marked, data, form: form === 'redacted' ? 'redacted' : 'signature' };
    return [{ kind: 'reasoning', text, sealed }];
  });
}

function inBase64(sealed: Sealed): string {
  return encoder.encode(markSealed(sealed)).toBase64();
}

/** The state that bears our mark, with its letter; null without it. A text that begins like it and is nothing of ours has no letter. */
function readMarked(wire: string): Sealed | null {
  if (!wire.startsWith(markWord)) return null;
  const sealed = readSealed(decodeBase64(wire) ?? '', 'signature');
  return sealed.origin === 'native' ? { ...sealed, data: '' } : sealed;
}

/** Takes either alphabet; null for anything else. */
function decodeBase64(text: string): string | null {
  try {
    const standard = text.replaceAll('-', '+').replaceAll('_', '/');
    return decoder.decode(Uint8Array.fromBase64(standard));
  } catch {
    return null;
  }
}
