import { createHmac, randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import { formatKey, isWellFormedKey, keyEntropyBytes } from '../catalogue/key.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import type { Pepper, Peppers } from './owner-files.ts';

/** A new key. It is shown to its owner once and never stored. */
export function generateKey(): string {
  return formatKey(randomBytes(keyEntropyBytes));
}

/** HMAC-SHA256 of a key, lower-case hex: what is stored and looked up in the place of the key. */
export function hashKey(key: string, pepper: Pepper): string {
  return createHmac('sha256', pepper.secret).update(key).digest('hex');
}

/** Everything that the declaration of keys needs of the peppers. */
export interface KeyHashes {
  /** HMAC of a well-formed key under the current pepper. */
  readonly hashKey: (key: string) => string;
  /** The same under each older pepper: a key that was revoked then must be known again. */
  readonly olderHashes: (key: string) => readonly string[];
  /** Names of the peppers that betray nothing of them. */
  readonly fingerprints: readonly string[];
}

export function keyHashes(peppers: Peppers): KeyHashes {
  const [newest, ...older] = peppers;
  return {
    hashKey: (key) => hashKey(key, newest),
    olderHashes: (key) => older.map((pepper) => hashKey(key, pepper)),
    fingerprints: peppers.map((pepper) => hashKey('fingerprint', pepper).slice(0, fingerprintDigits)),
  };
}

/** 64 bits: enough to tell peppers from each other, and of no use to who searches for one. */
const fingerprintDigits = 16;

/**
 * How authentication hashes a key: null when its checksum is wrong, else the hash under the pepper that knows it, or
 * under the newest when none does.
 */
export function keyHasher(
  peppers: Peppers,
  isKnown: (hash: string) => boolean,
): (key: string) => string | null {
  return (key) => (isWellFormedKey(key) ? findHash(key, peppers, isKnown) : null);
}

function findHash(key: string, [newest, ...older]: Peppers, isKnown: (hash: string) => boolean): string {
  const hash = hashKey(key, newest);
  if (older.length === 0 || isKnown(hash)) return hash;
  return older.map((pepper) => hashKey(key, pepper)).find(isKnown) ?? hash;
}

/** Finds a key by its id, by a beginning that only one id has, or by a name that only one key has. */
export function findKey(stored: StoredConfiguration, given: string): Result<StoredKey, string> {
  const exact = stored.keys.find(({ id }) => id === given);
  if (exact !== undefined) return succeed(exact);
  const [first, second] = stored.keys.filter(({ id }) => id.startsWith(given));
  if (first !== undefined)
    return second === undefined ? succeed(first) : fail(`several keys begin with "${given}"`);
  const [named, namesake] = stored.keys.filter(({ name }) => name === given);
  if (named === undefined) {
    const hint = didYouMean(given, idsOf(stored.keys)) || '; headgate keys list names them';
    return fail(`there is no key "${given}"${hint}`);
  }
  return namesake === undefined
    ? succeed(named)
    : fail(`several keys are named "${given}"; say which by its id, as headgate keys list has it`);
}

function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map((row) => row.id);
}
