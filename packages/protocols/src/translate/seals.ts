import { findBeginning } from '../bytes/scan.ts';
import type { Sealed } from '../turn.ts';

/** `gw1.ORIGIN.DATA`: our mark on state that came from a target of another protocol. */
const mark = /^gw1\.([0-9a-z]+)\.(.*)$/s;

/** A whole string that is marked begins like this. A text that only speaks of the mark has something before it. */
export const sealMark = new TextEncoder().encode('gw1.');

/** Looks for a marked string in the JSON from `start` to `end`. */
export function hasSealed(bytes: Uint8Array, start: number, end: number): boolean {
  return findBeginning(bytes, sealMark, start, end) !== -1;
}

/** Sealed state as a caller of another protocol gets it, so that it is known again when it comes back. */
export function markSealed({ origin, data }: Sealed): string {
  return `gw1.${origin}.${data}`;
}

/** Sealed state as a caller sends it. Without our mark it is from an upstream of the caller's own protocol: `native`. */
export function readSealed(text: string, form: Sealed['form']): Sealed {
  const [, origin, data] = mark.exec(text) ?? [];
  return origin === undefined || data === undefined
    ? { origin: 'native', data: text, form }
    : { origin, data, form };
}

/** State goes back only to where it came from. */
export function mayReturn(sealed: Sealed | null, origin: string): sealed is Sealed {
  return sealed !== null && sealed.origin === origin;
}
