import { createHmac, randomBytes } from 'node:crypto';
import { formatKey, isWellFormedKey, keyEntropyBytes } from '../core/key.ts';
import type { Pepper, Peppers } from './pepper.ts';

/** A new key. It is shown to its owner once and never stored. */
export function generateKey(): string {
  return formatKey(randomBytes(keyEntropyBytes));
}

/** HMAC-SHA256 of a key, lower-case hex: what is stored and looked up in the place of the key. */
export function hashKey(key: string, pepper: Pepper): string {
  return createHmac('sha256', pepper.secret).update(key).digest('hex');
}

/**
 * How authentication hashes a key: null when its checksum is wrong, else the hash under the pepper that knows it, or
 * under the newest when none does.
 */
export function keyHasher(
  peppers: Peppers,
  isKnown: (hash: string) => boolean,
): (key: string) => string | null {
  const [newest, ...older] = peppers;
  return (key) => {
    if (!isWellFormedKey(key)) return null;
    const hash = hashKey(key, newest);
    if (older.length === 0 || isKnown(hash)) return hash;
    return older.map((pepper) => hashKey(key, pepper)).find(isKnown) ?? hash;
  };
}
