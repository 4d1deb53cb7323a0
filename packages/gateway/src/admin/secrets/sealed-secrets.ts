import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { SealedSecret, SealedSigningSecret } from '../../catalogue/secret-source.ts';
import { readOrCreateOwnerFile } from '../owner-files.ts';

/** A key that credentials are sealed under. Its id tells it from others, and nothing of it. */
export interface SealingKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Newest first: the first seals, the others still open what they sealed. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1';

/** The file of a data directory with its sealing keys, a line each. */
export function sealingKeysFile(dataDir: string): string {
  return join(dataDir, 'credentials-key');
}

/** The keys in the text of such a file. */
export function readSealingKeys(text: string): Result<SealingKeys, string> {
  const lines = text.trim().split(/\s+/);
  const keys = lines.flatMap((line) =>
    /^[\w-]{43}$/.test(line) ? keyOf(Buffer.from(line, 'base64url')) : [],
  );
  const [newest, ...older] = keys;
  if (newest === undefined || keys.length < lines.length)
    return fail('is damaged: it must be lines of 43 characters');
  return succeed([newest, ...older]);
}

function keyOf(bytes: Buffer): readonly SealingKey[] {
  const id = createHash('sha256')
    .update('headgate credentials key\n')
    .update(bytes)
    .digest('hex')
    .slice(0, 12);
  return bytes.length === keyBytes ? [{ id, bytes }] : [];
}

/** The keys of a data directory; the first that is needed is made, of 256 random bits, for its owner alone. */
export function openSealingKeys(dataDir: string): Result<SealingKeys, string> {
  const path = sealingKeysFile(dataDir);
  const keys = readSealingKeys(
    readOrCreateOwnerFile(path, () => `${randomBytes(keyBytes).toString('base64url')}\n`),
  );
  return keys.ok ? keys : fail(`${path} ${keys.error}; put it back from a copy`);
}

/** The table, the row and the field that a secret is sealed for: it opens in no other. */
export type SealedPlace = readonly [table: string, ...row: string[]];

function placeOf({ id, channelId }: Pick<SealedSecret, 'id' | 'channelId'>): SealedPlace {
  return ['credentials', id, channelId, 'secret'];
}

function signingPlaceOf({ id, webhook }: Pick<SealedSigningSecret, 'id' | 'webhook'>): SealedPlace {
  return ['signing_secrets', id, webhook, 'secret'];
}

/** Seals what messages of a webhook are signed with for its row. */
export function sealSigningSecret(
  keys: SealingKeys,
  row: Pick<SealedSigningSecret, 'id' | 'webhook'>,
  secret: string,
): Pick<SealedSecret, 'keyId' | 'sealed'> {
  return sealAt(keys, signingPlaceOf(row), secret);
}

/** Seals the secret of a channel for its row. */
export function sealSecret(
  keys: SealingKeys,
  row: Pick<SealedSecret, 'id' | 'channelId'>,
  secret: string,
): Pick<SealedSecret, 'keyId' | 'sealed'> {
  return sealAt(keys, placeOf(row), secret);
}

/** Opens the sealed secret of a channel or a webhook, or says why it does not open. */
export function openSealed(
  keys: readonly SealingKey[],
  secret: SealedSecret | SealedSigningSecret,
): Result<string, string> {
  return openAt(keys, secret.kind === 'signing' ? signingPlaceOf(secret) : placeOf(secret), secret);
}

/** Seals a secret for its place with AES-256-GCM, under a fresh nonce. */
export function sealAt(
  [key]: SealingKeys,
  place: SealedPlace,
  secret: string,
): Pick<SealedSecret, 'keyId' | 'sealed'> {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(JSON.stringify(place)));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  const parts = [nonce, text, cipher.getAuthTag()].map((part) => part.toString('base64url'));
  return { keyId: key.id, sealed: [version, ...parts].join('.') };
}

/** Opens a secret that was sealed for this place, or says why it does not open. */
export function openAt(
  keys: readonly SealingKey[],
  place: SealedPlace,
  secret: Pick<SealedSecret, 'keyId' | 'sealed'>,
): Result<string, string> {
  const key = keys.find(({ id }) => id === secret.keyId);
  if (key === undefined)
    return fail(`is sealed under the key ${secret.keyId}, which is not in credentials-key`);
  const [form, nonce, text, tag] = secret.sealed.split('.').map((part) => Buffer.from(part, 'base64url'));
  const isWhole = nonce?.length === nonceBytes && tag?.length === tagBytes && text !== undefined;
  if (!isWhole || form === undefined || !secret.sealed.startsWith(`${version}.`))
    return fail('is not what was sealed: its row is damaged');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(JSON.stringify(place))).setAuthTag(tag);
    return succeed(Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8'));
  } catch {
    return fail('does not open: its row was changed, or belongs to another credential');
  }
}
