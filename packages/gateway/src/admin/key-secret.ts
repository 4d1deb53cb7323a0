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

/** Hashes remembered at once; a deployment with more keys in use merely hashes some of them again. */
const rememberedMax = 10_000;

/**
 * How authentication hashes a key: null when its checksum is wrong, else the hash under the pepper that knows it, or
 * under the newest when none does. The hash of a known key is remembered by the whole key, since working it out costs
 * more than all else that authentication does; whether that key may still call is looked up every time.
 */
export function keyHasher(
  peppers: Peppers,
  isKnown: (hash: string) => boolean,
): (key: string) => string | null {
  const remembered = new Map<string, string>();
  return (key) => {
    const seen = remembered.get(key);
    if (seen !== undefined) return seen;
    const hash = isWellFormedKey(key) ? findHash(key, peppers, isKnown) : null;
    if (hash === null || !isKnown(hash)) return hash;
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(key, hash);
    return hash;
  };
}

function findHash(key: string, [newest, ...older]: Peppers, isKnown: (hash: string) => boolean): string {
  const hash = hashKey(key, newest);
  if (older.length === 0 || isKnown(hash)) return hash;
  return older.map((pepper) => hashKey(key, pepper)).find(isKnown) ?? hash;
}
