import { createHmac, randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { DeclaredKey } from '../catalogue/entities.ts';
import { formatKey, isWellFormedKey, keyEntropyBytes, keyHint } from '../catalogue/key.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { ConfigurationStore, StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
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

export interface KeyTools {
  readonly store: ConfigurationStore;
  readonly peppers: Peppers;
  readonly nowMs: number;
}

export interface KeyRequest {
  readonly name: string | null;
  /** Null chooses the only one there is. */
  readonly groupId: string | null;
  readonly accountId: string | null;
  readonly models: readonly string[] | null;
  readonly expiresAtMs: number | null;
  readonly strict: boolean;
}

/** A key just made: the one moment its text is known. */
export interface NewKey {
  readonly key: string;
  readonly record: DeclaredKey;
}

/** Makes a key. The error says what to name. */
export async function createKey(tools: KeyTools, request: KeyRequest): Promise<Result<NewKey, string>> {
  const stored = await tools.store.load();
  const group = chooseOne('group', request.groupId, idsOf(stored.groups));
  if (!group.ok) return group;
  const account = chooseOne('account', request.accountId, idsOf(stored.accounts));
  if (!account.ok) return account;
  const unknown = request.models?.find((model) => !stored.models.some(({ id }) => id === model));
  if (unknown !== undefined)
    return fail(`there is no model "${unknown}"${didYouMean(unknown, idsOf(stored.models))}`);
  const { models, expiresAtMs, strict } = request;
  const key = newKey(tools, {
    name: request.name,
    accountId: account.value,
    groupId: group.value,
    models,
    expiresAtMs,
    strict,
    addressRanges: null,
    budgets: null,
    limits: null,
  });
  await tools.store.insertKey(key.record, tools.nowMs);
  return succeed(key);
}

/** Makes a successor with the same rights; the old key works beside it for the grace period. */
export async function rotateKey(
  tools: KeyTools,
  given: string,
  graceMs: number,
): Promise<Result<NewKey, string>> {
  const old = findKey(await tools.store.load(), given);
  if (!old.ok) return old;
  const successor = newKey(tools, old.value);
  const rotated = await tools.store.rotateKey(
    old.value.id,
    successor.record,
    tools.nowMs + graceMs,
    tools.nowMs,
  );
  return rotated
    ? succeed(successor)
    : fail(`the key ${old.value.id} is not active, so it cannot be rotated`);
}

/** Finds a key by its id, by a beginning that only one id has, or by a name that only one key has. */
export function findKey(stored: StoredConfiguration, given: string): Result<StoredKey, string> {
  const exact = stored.keys.find(({ id }) => id === given);
  if (exact !== undefined) return succeed(exact);
  const [first, second] = stored.keys.filter(({ id }) => id.startsWith(given));
  if (first !== undefined)
    return second === undefined ? succeed(first) : fail(`several keys begin with "${given}"`);
  const [named, namesake] = stored.keys.filter(({ name }) => name === given);
  if (named === undefined) return fail(`there is no key "${given}"${didYouMean(given, idsOf(stored.keys))}`);
  return namesake === undefined
    ? succeed(named)
    : fail(`several keys are named "${given}"; say which by its id, as headgate keys list has it`);
}

type KeyRights = Omit<DeclaredKey, 'id' | 'name' | 'hash' | 'hint' | 'olderHashes'> & {
  readonly name: string | null;
};

function newKey({ peppers }: KeyTools, rights: KeyRights): NewKey {
  const key = generateKey();
  const id = `key-${randomBytes(6).toString('hex')}`;
  const secret = { hash: hashKey(key, peppers[0]), hint: keyHint(key) };
  return { key, record: { ...rights, id, name: rights.name ?? id, ...secret } };
}

function chooseOne(kind: string, given: string | null, ids: readonly string[]): Result<string, string> {
  if (given !== null) {
    return ids.includes(given)
      ? succeed(given)
      : fail(`there is no ${kind} "${given}"${didYouMean(given, ids)}`);
  }
  const [only, another] = ids;
  if (only === undefined)
    return fail(`there is no ${kind} yet; start the gateway once, or import a configuration`);
  return another === undefined ? succeed(only) : fail(`name a ${kind} with --${kind}: ${ids.join(', ')}`);
}

function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map((row) => row.id);
}
