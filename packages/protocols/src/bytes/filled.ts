import { skipSpace } from './scan.ts';

/** A filled value is more than null, false, a number, `""`, `[]` or `{}`. */
export function isFilled(bytes: Uint8Array, start: number, end: number): boolean {
  switch (bytes[start]) {
    case 0x22:
      return end - start > 2;
    case 0x5b:
    case 0x7b:
      return skipSpace(bytes, start + 1) < end - 1;
    default:
      return false;
  }
}
