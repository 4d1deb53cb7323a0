import { createHmac, randomBytes } from 'node:crypto';
import type { Peppers } from '../owner-files.ts';

/** Without letters and digits that are taken for one another when they are read out or copied by hand. */
const letters = '23456789abcdefghjkmnpqrstuvwxyz';
const codesAtOnce = 10;
const halfLength = 5;

/** A set of recovery codes such as `k7m3p-x9qrd`: 49 bits each, as they are tried no faster than the throttle lets them. */
export function makeRecoveryCodes(): readonly string[] {
  return Array.from({ length: codesAtOnce }, () => `${randomLetters()}-${randomLetters()}`);
}

function randomLetters(): string {
  let text = '';
  // Bytes beyond the last whole multiple of the alphabet would make its first letters more likely.
  const fair = 256 - (256 % letters.length);
  while (text.length < halfLength)
    for (const byte of randomBytes(halfLength))
      if (byte < fair && text.length < halfLength) text += letters[byte % letters.length];
  return text;
}

/** The form of a recovery code that is hashed; null for what cannot be one. */
export function readRecoveryCode(given: string): string | null {
  const plain = given.toLowerCase().replaceAll(/[\s-]/g, '');
  return plain.length === 2 * halfLength && [...plain].every((letter) => letters.includes(letter))
    ? plain
    : null;
}

/** A token of a link: 256 bits. */
export function makeLinkToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The kinds of secrets that are good once. */
export type OneTimeKind = 'recovery-code' | 'invitation' | 'password-link';

/**
 * How a secret that is good once stands in the store, under each pepper, newest first: what is new is hashed with the first, what
 * is presented is looked for under all of them. A stolen store alone is searched in vain, also for the short ones.
 */
export function oneTimeHashes(
  peppers: Peppers,
  kind: OneTimeKind,
  secret: string,
): readonly [string, ...string[]] {
  const [newest, ...older] = peppers;
  const hash = (pepper: Peppers[number]) =>
    createHmac('sha256', pepper.secret).update(`${kind}\n${secret}`).digest('hex');
  return [hash(newest), ...older.map(hash)];
}
