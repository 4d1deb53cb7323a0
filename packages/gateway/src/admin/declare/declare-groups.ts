import type { GroupShape, KeyShape } from '../../config/configuration-schema.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import { plainRouting } from '../../core/catalogue.ts';
import { parseDecimal } from '../../core/decimal.ts';
import { isWellFormedKey, keyHint } from '../../core/key.ts';
import type {
  DeclaredAccount,
  DeclaredGroup,
  DeclaredKey,
  DeclaredRouting,
} from '../../ports/configuration-store.ts';
import { complain, type Declaring, requireKnown } from './declaring.ts';

/** Who pays when a file says nothing about accounts. */
const defaultAccount = 'default';
const listPricePpm = 1_000_000n;

export function declareAccounts({ file }: Declaring): readonly DeclaredAccount[] {
  const named = Object.entries(file.shape.accounts ?? {}).map(([id, account]) => ({
    id,
    name: account?.name ?? id,
  }));
  const needsDefault = Object.values(file.shape.keys ?? {}).some(
    (key) => (key.account ?? defaultAccount) === defaultAccount,
  );
  const hasDefault = named.some((account) => account.id === defaultAccount);
  return needsDefault && !hasDefault ? [...named, { id: defaultAccount, name: 'Default' }] : named;
}

export function declareGroups(
  declaring: Declaring,
  modelIds: readonly string[],
  channelIds: readonly string[],
): readonly DeclaredGroup[] {
  return Object.entries(declaring.file.shape.groups ?? {}).map(([id, group]) => {
    requireModels(declaring, ['groups', id, 'models'], group.models, modelIds);
    return {
      id,
      name: group.name ?? id,
      platform: group.platform,
      multiplierPpm: multiplierOf(declaring, ['groups', id, 'multiplier']),
      models: group.models ?? null,
      routing: declareRouting(declaring, id, group, channelIds),
    };
  });
}

function declareRouting(
  declaring: Declaring,
  groupId: string,
  { routing = {} }: GroupShape,
  channelIds: readonly string[],
): DeclaredRouting {
  const { preset, channels, hedging } = routing;
  for (const [index, channel] of (channels ?? []).entries()) {
    const path = ['groups', groupId, 'routing', 'channels', index];
    requireKnown(declaring, path, 'channel', channel, channelIds);
  }
  return {
    preset: preset ?? plainRouting.preset,
    channels: channels ?? null,
    hedging: hedging ?? plainRouting.hedging,
  };
}

function multiplierOf(declaring: Declaring, path: YamlPath): bigint {
  const text = declaring.file.source.exactText(path);
  if (text === null) return listPricePpm;
  const multiplier = parseDecimal(text, 6);
  if (multiplier.ok) return multiplier.value;
  complain(declaring, path, multiplier.error);
  return listPricePpm;
}

export function declareKeys(
  declaring: Declaring,
  groupIds: readonly string[],
  accountIds: readonly string[],
  modelIds: readonly string[],
): readonly DeclaredKey[] {
  const keys = Object.entries(declaring.file.shape.keys ?? {}).flatMap(([id, shape]) => {
    requireKnown(declaring, ['keys', id, 'group'], 'group', shape.group, groupIds);
    if (shape.account !== undefined)
      requireKnown(declaring, ['keys', id, 'account'], 'account', shape.account, [
        ...accountIds,
        defaultAccount,
      ]);
    requireModels(declaring, ['keys', id, 'models'], shape.models, modelIds);
    const secret = secretOf(declaring, id, shape);
    return secret === null ? [] : [declareKey(id, shape, secret)];
  });
  refuseSharedSecrets(declaring, keys);
  return keys;
}

function declareKey(id: string, shape: KeyShape, secret: KeptSecret): DeclaredKey {
  return {
    id,
    name: shape.name ?? id,
    accountId: shape.account ?? defaultAccount,
    groupId: shape.group,
    ...secret,
    models: shape.models ?? null,
    expiresAtMs: shape.expires === undefined ? null : Date.parse(shape.expires),
    strict: shape.strict ?? false,
  };
}

/** What is kept of a key. */
type KeptSecret = Pick<DeclaredKey, 'hash' | 'hint'>;

function secretOf(declaring: Declaring, id: string, { secret }: KeyShape): KeptSecret | null {
  if ('hash' in secret) return secret;
  const name = secret.environment;
  const path = ['keys', id, 'secret', 'environment'];
  const key = declaring.tools.environment(name)?.trim();
  if (key === undefined) {
    complain(
      declaring,
      path,
      `the variable ${name} is not set; export it before starting, or remove the key`,
    );
    return null;
  }
  if (isWellFormedKey(key)) return { hash: declaring.tools.hashKey(key), hint: keyHint(key) };
  complain(
    declaring,
    path,
    `the variable ${name} does not hold a Headgate key (sk- and 49 letters and digits); \`headgate keys generate\` prints one`,
  );
  return null;
}

function refuseSharedSecrets(declaring: Declaring, keys: readonly DeclaredKey[]): void {
  const owners = new Map<string, string>();
  for (const { id, hash } of keys) {
    const owner = owners.get(hash);
    if (owner !== undefined)
      complain(declaring, ['keys', id, 'secret'], `is the same key as that of "${owner}"`);
    owners.set(hash, id);
  }
}

function requireModels(
  declaring: Declaring,
  path: YamlPath,
  models: readonly string[] | undefined,
  modelIds: readonly string[],
): void {
  for (const [index, model] of (models ?? []).entries())
    requireKnown(declaring, [...path, index], 'model', model, modelIds);
}
