import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fail, type Result, succeed } from '@headgate/protocols';
import { didYouMean } from '../config/suggestion.ts';
import type {
  ConfigurationStore,
  StoredConfiguration,
  StoredCredential,
} from '../ports/configuration-store.ts';
import type { Store } from '../ports/store.ts';
import { type AuditTools, noting } from './audit.ts';
import { openSealingKeys, type SealingKeys, sealingKeysFile, sealSecret } from './secrets/sealed-secrets.ts';
import { readSecretText } from './secrets/secret-text.ts';

export interface CredentialTools extends AuditTools {
  readonly store: Pick<Store, 'audit' | 'configuration'>;
  readonly dataDir: string;
}

/** Seals a secret for a channel and puts it into the store. Gives the credential's id, or says what is wrong, without the secret. */
export async function addCredential(
  tools: CredentialTools,
  channelId: string,
  name: string | null,
  text: string,
): Promise<Result<string, string>> {
  const { store, dataDir, nowMs } = tools;
  const stored = await store.configuration.load();
  const channels = stored.channels.map(({ id }) => id);
  if (!channels.includes(channelId))
    return fail(`there is no channel "${channelId}"${didYouMean(channelId, channels)}`);
  const sealed = sealCredential(stored, dataDir, channelId, text);
  if (!sealed.ok) return sealed;
  const { id } = sealed.value;
  const row = { ...sealed.value, name: name ?? id };
  await noted(tools, 'create', row).addCredential(row, nowMs);
  return succeed(id);
}

/** The row of a credential that is new, without its name. */
export function sealCredential(
  stored: StoredConfiguration,
  dataDir: string,
  channelId: string,
  text: string,
) {
  const row = { id: `cred-${randomBytes(6).toString('hex')}`, channelId };
  const sealed = seal(stored, dataDir, row, text);
  return sealed.ok ? succeed({ ...row, ...sealed.value }) : sealed;
}

/** Puts another secret in the place of a credential's. */
export async function rotateCredential(
  tools: CredentialTools,
  given: string,
  text: string,
): Promise<Result<StoredCredential, string>> {
  const { store, dataDir, nowMs } = tools;
  const stored = await store.configuration.load();
  const found = findCredential(stored, given);
  if (!found.ok) return found;
  const sealed = seal(stored, dataDir, found.value, text);
  if (!sealed.ok) return sealed;
  const configuration = noted(tools, 'rotate', found.value);
  const isThere = await configuration.rotateCredential(found.value.id, sealed.value, nowMs);
  return isThere ? found : fail(`the credential ${found.value.id} is gone`);
}

/** Takes a credential away, for good. */
export async function removeCredential(
  tools: CredentialTools,
  given: string,
): Promise<Result<StoredCredential, string>> {
  const { store } = tools;
  const found = findCredential(await store.configuration.load(), given);
  if (!found.ok) return found;
  await noted(tools, 'revoke', found.value).removeCredential(found.value.id);
  return found;
}

/** The configuration, for one change that is noted. */
function noted(
  tools: CredentialTools,
  verb: 'create' | 'rotate' | 'revoke',
  { id, name, channelId: channel }: Pick<StoredCredential, 'id' | 'name' | 'channelId'>,
): ConfigurationStore {
  const members = { id, name, channel };
  const target = { kind: 'credential', id, name } as const;
  const [before, after] = [verb === 'create' ? null : members, verb === 'revoke' ? null : members];
  const change = { action: `credential.${verb}`, target, accountId: null, before, after } as const;
  return noting(tools, change).configuration;
}

/** Finds a credential by its id, or by a beginning that only one id has. */
function findCredential(
  { credentials }: StoredConfiguration,
  given: string,
): Result<StoredCredential, string> {
  const exact = credentials.find(({ id }) => id === given);
  if (exact !== undefined) return succeed(exact);
  const [first, second] = credentials.filter(({ id }) => id.startsWith(given));
  if (second !== undefined) return fail(`several credentials begin with "${given}"`);
  const ids = credentials.map(({ id }) => id);
  return first === undefined
    ? fail(`the store has no credential "${given}"${didYouMean(given, ids)}; see headgate credentials list`)
    : succeed(first);
}

function seal(
  stored: StoredConfiguration,
  dataDir: string,
  row: Pick<StoredCredential, 'id' | 'channelId'>,
  text: string,
) {
  const secret = readSecretText(text);
  if (!secret.ok) return fail(`the secret ${secret.error}`);
  const keys = sealingKeysFor(stored, dataDir);
  return keys.ok ? succeed(sealSecret(keys.value, row, secret.value)) : keys;
}

/** A second key would be made in the place of one that was lost, and what that has sealed could not be opened by putting it back. */
export function sealingKeysFor(
  { credentials, settings = [], signingSecrets = [] }: StoredConfiguration,
  dataDir: string,
): Result<SealingKeys, string> {
  const path = sealingKeysFile(dataDir);
  const others = settings.filter(({ sealed }) => sealed !== null).length + signingSecrets.length;
  const count = credentials.length + others;
  if (count === 0 || existsSync(path)) return openSealingKeys(dataDir);
  return fail(
    `${path} is gone, and ${count} stored ${others === 0 ? 'credentials' : 'secrets'} are sealed under its key; put it back from a copy, or remove them first`,
  );
}
