import {
  accountFields,
  type DeclaredAccount,
  type DeclaredGroup,
  type DeclaredKey,
  defaultAccount,
  groupFields,
  keyFields,
  routingFields,
} from '../../catalogue/entities.ts';
import { declare } from '../../catalogue/fields.ts';
import { isWellFormedKey, keyHint } from '../../catalogue/key.ts';
import type { KeyShape } from '../../config/configuration-schema.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import { parseDecimal } from '../../money/money.ts';
import { exactDiscount } from './declare-discounts.ts';
import { exactLimits } from './declare-limits.ts';
import { complain, type Declaring, requireKnown } from './declaring.ts';

export function declareAccounts(
  declaring: Declaring,
  modelIds: readonly string[],
): readonly DeclaredAccount[] {
  const { file } = declaring;
  const groupIds = Object.keys(file.shape.groups ?? {});
  const named = Object.entries(file.shape.accounts ?? {}).map(([id, shape]) => {
    const account = declare(
      accountFields,
      id,
      exactAccount(declaring, ['accounts', id], shape ?? {}, modelIds),
    );
    requireAll(declaring, ['accounts', id, 'groups'], 'group', account.groups, groupIds);
    return { id, ...account };
  });
  const payers = Object.values(file.shape.keys ?? {}).map((key) =>
    'account' in key ? key.account : defaultAccount,
  );
  const isMissing = payers.includes(defaultAccount) && !named.some(({ id }) => id === defaultAccount);
  return isMissing ? [...named, unnamedAccount] : named;
}

function exactAccount(
  declaring: Declaring,
  path: YamlPath,
  shape: object,
  modelIds: readonly string[],
): object {
  return exactDiscount(declaring, path, exactLimits(declaring, path, shape, modelIds), modelIds);
}

/** Who pays for keys that name nobody. */
export const unnamedAccount: DeclaredAccount = {
  id: defaultAccount,
  ...declare(accountFields, defaultAccount, { name: 'Default' }),
};

export function declareGroups(
  declaring: Declaring,
  modelIds: readonly string[],
  channelIds: readonly string[],
): readonly DeclaredGroup[] {
  return Object.entries(declaring.file.shape.groups ?? {}).map(([id, shape]) => {
    const group = declare(groupFields, id, exactLimits(declaring, ['groups', id], shape, modelIds));
    requireAll(declaring, ['groups', id, 'models'], 'model', group.models, modelIds);
    const routing = declare(routingFields, id, shape.routing ?? {});
    requireAll(declaring, ['groups', id, 'routing', 'channels'], 'channel', routing.channels, channelIds);
    return { id, ...group, multiplierPpm: multiplierOf(declaring, ['groups', id, 'multiplier']), routing };
  });
}

const listPricePpm = 1_000_000n;

/** Reads the exact text: a multiplier never passes through a float. */
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
    const key = declare(keyFields, id, exactLimits(declaring, ['keys', id], shape, modelIds));
    requireKnown(declaring, ['keys', id, 'group'], 'group', key.groupId, groupIds);
    requireKnown(declaring, ['keys', id, 'account'], 'account', key.accountId, [
      ...accountIds,
      defaultAccount,
    ]);
    requireAll(declaring, ['keys', id, 'models'], 'model', key.models, modelIds);
    const secret = secretOf(declaring, id, shape);
    return secret === null ? [] : [{ id, ...key, ...secret }];
  });
  refuseSharedSecrets(declaring, keys);
  refuseOtherPeppers(declaring);
  return keys;
}

/** The hash and the hint of a key; its text is never kept. */
type KeptSecret = Pick<DeclaredKey, 'hash' | 'hint' | 'olderHashes'>;

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
  const { hashKey, olderHashes } = declaring.tools;
  if (isWellFormedKey(key)) return { hash: hashKey(key), hint: keyHint(key), olderHashes: olderHashes(key) };
  complain(
    declaring,
    path,
    `the variable ${name} does not hold a Headgate key (sk- and 49 letters and digits); \`headgate keys generate\` prints one`,
  );
  return null;
}

/** Under another pepper no hash of the file would ever match a key, and every caller would be turned away. */
function refuseOtherPeppers(declaring: Declaring): void {
  const { peppers = [], keys = {} } = declaring.file.shape;
  const hasHashes = Object.values(keys).some(({ secret }) => 'hash' in secret);
  const { fingerprints } = declaring.tools;
  if (!hasHashes || peppers.every((name) => fingerprints.includes(name))) return;
  complain(
    declaring,
    ['peppers'],
    'the hashes of these keys were made under another pepper, so none of the keys would work: bring the pepper of the data directory they come from (its file `pepper`, or HEADGATE_PEPPER), or leave the keys out and make new ones',
  );
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

/** Complains of each name of a list that is not known. */
function requireAll(
  declaring: Declaring,
  path: YamlPath,
  kind: 'model' | 'channel' | 'group',
  names: readonly string[] | null,
  known: readonly string[],
): void {
  for (const [index, name] of (names ?? []).entries())
    requireKnown(declaring, [...path, index], kind, name, known);
}
