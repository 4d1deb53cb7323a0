import { join } from 'node:path';
import { type Platform, protocols } from '@headgate/protocols';
import { z } from 'zod';
import { plainRouting } from '../catalogue/catalogue.ts';
import { timeoutFields } from '../catalogue/channel-way.ts';
import {
  channelFields,
  channelModelFields,
  type DeclaredChannel,
  type DeclaredGroup,
  type DeclaredKey,
  type DeclaredModel,
  groupFields,
  keyFields,
} from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import { isWellFormedKey, keyHint } from '../catalogue/key.ts';
import type { PriceList } from '../catalogue/price-book.ts';
import type { ProviderDocument } from '../config/provider-document.ts';
import type { Environment } from '../config.ts';
import type {
  ConfigurationSource,
  ConfigurationStore,
  Declaration,
  StoredConfiguration,
} from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';
import { listCost } from './declare/declare-channels.ts';
import { unnamedAccount } from './declare/declare-groups.ts';
import { describeModel } from './declare/declare-models.ts';
import { demoAccount, demoDeclaration, demoGroups, platforms } from './demo.ts';
import { generateKey } from './keys.ts';
import { readOrCreateOwnerFile } from './owner-files.ts';

/** Keys in plain text, by the platform they call. */
export type PlainKeys = Readonly<Record<Platform, string>>;

/**
 * A start without configuration came to this: `demo` with simulated channels, whose keys are kept readable because they
 * buy nothing, `isNew` where nothing was there before; `environment` with real ones, whose keys are known only to the start that made them; `none` when there
 * is a configuration already.
 */
export type SelfConfiguration =
  | { readonly kind: 'demo'; readonly keys: PlainKeys; readonly isNew: boolean }
  | { readonly kind: 'environment'; readonly keys: PlainKeys | null; readonly variables: readonly string[] }
  | { readonly kind: 'none' };

export interface SelfConfigurationTools {
  readonly store: ConfigurationStore;
  readonly catalogue: CatalogueFiles;
  readonly environment: Environment;
  readonly dataDir: string;
  readonly hashKey: (key: string) => string;
  readonly nowMs: number;
}

/** The sources of what starts without configuration put into the store: they give way to an operator's configuration. */
export const automaticSources: readonly ConfigurationSource[] = ['demo', 'environment'];

/** Configures a store that nobody has configured, or brings what an earlier start put there up to date. */
export async function configureItself(tools: SelfConfigurationTools): Promise<SelfConfiguration> {
  const stored = await tools.store.load();
  const found = findEnvironmentProviders(tools.catalogue, tools.environment);
  if (found.length === 0) return isDemo(stored) ? configureDemo(tools, stored) : { kind: 'none' };
  if (!isDemo(stored) && !hasActiveKeys(stored, 'environment')) return { kind: 'none' };
  const { keys, plain } = environmentKeys(tools, stored);
  const declaration = asStored(environmentDeclaration(found, tools.catalogue, keys, tools.nowMs), stored);
  await tools.store.apply('environment', declaration, tools.nowMs, ['demo']);
  return { kind: 'environment', keys: plain, variables: found.map(({ variable }) => variable) };
}

/**
 * Nothing is there, or a demo. Real channels never turn into one: when their credentials are missing at a start, that
 * is a mistake to warn of, and callers who hold keys must not be given made-up answers.
 */
function isDemo(stored: StoredConfiguration): boolean {
  if (hasActiveKeys(stored, 'demo')) return true;
  const isEmpty = stored.groups.length === 0 && stored.channels.length === 0;
  return isEmpty && stored.keys.every((key) => key.source === 'demo');
}

function hasActiveKeys(stored: StoredConfiguration, source: ConfigurationSource): boolean {
  return stored.keys.some((key) => key.source === source && key.status === 'active');
}

async function configureDemo(
  tools: SelfConfigurationTools,
  stored: StoredConfiguration,
): Promise<SelfConfiguration> {
  const plain = readDemoKeys(tools.dataDir);
  const keys = declareKeys('demo', plain, demoAccount.id, demoGroups, tools.hashKey);
  await tools.store.apply('demo', asStored(demoDeclaration(keys), stored), tools.nowMs);
  return { kind: 'demo', keys: plain, isNew: stored.groups.length === 0 };
}

/** Rows that an earlier start declared go on as they are: an operator may have set limits since. */
function asStored(declaration: Declaration, stored: StoredConfiguration): Declaration {
  const known = <Row extends { readonly id: string }>(
    rows: readonly Row[],
    before: readonly Row[],
  ): readonly Row[] => rows.map((row) => before.find(({ id }) => id === row.id) ?? row);
  return {
    ...declaration,
    accounts: known(declaration.accounts, stored.accounts),
    groups: known(declaration.groups, stored.groups),
    keys: known(declaration.keys, stored.keys),
  };
}

const demoKeysFile = z.strictObject({
  completions: z.string().refine(isWellFormedKey),
  messages: z.string().refine(isWellFormedKey),
  native: z.string().refine(isWellFormedKey),
}) satisfies z.ZodType<PlainKeys>;

/** The keys of a demo are kept readable, so that the calls it prints work at every start: they reach made-up answers only. */
function readDemoKeys(dataDir: string): PlainKeys {
  const text = readOrCreateOwnerFile(
    join(dataDir, 'demo-keys.json'),
    () => `${JSON.stringify(newKeys(), null, 2)}\n`,
  );
  return demoKeysFile.parse(JSON.parse(text));
}

/** Real channels' keys are never stored readable: later starts go on with the hashes of the first. */
function environmentKeys(
  tools: SelfConfigurationTools,
  stored: StoredConfiguration,
): { keys: readonly DeclaredKey[]; plain: PlainKeys | null } {
  const known = stored.keys.filter((key) => key.source === 'environment' && key.status === 'active');
  if (known.length > 0) return { keys: known, plain: null };
  const plain = newKeys();
  const keys = declareKeys('first', plain, unnamedAccount.id, environmentGroups, tools.hashKey);
  return { keys, plain };
}

function newKeys(): PlainKeys {
  return { completions: generateKey(), messages: generateKey(), native: generateKey() };
}

function declareKeys(
  prefix: string,
  plain: PlainKeys,
  accountId: string,
  groups: readonly DeclaredGroup[],
  hashKey: (key: string) => string,
): readonly DeclaredKey[] {
  return groups.map((group) => ({
    id: `${prefix}-${group.platform}-${hashKey(plain[group.platform]).slice(0, 8)}`,
    ...declare(keyFields, group.id, { name: `${group.name} key`, account: accountId, group: group.id }),
    hash: hashKey(plain[group.platform]),
    hint: keyHint(plain[group.platform]),
  }));
}

interface FoundProvider {
  readonly provider: ProviderDocument;
  /** The variable its credential is in. */
  readonly variable: string;
}

/** One group per platform, the same from start to start. */
const environmentGroups: readonly DeclaredGroup[] = platforms.map((platform) => ({
  id: platform,
  ...declare(groupFields, platform, { platform }),
  routing: plainRouting,
}));

/** Providers whose credential is in the environment, and that Headgate can call. */
function findEnvironmentProviders(
  catalogue: CatalogueFiles,
  environment: Environment,
): readonly FoundProvider[] {
  return catalogue.automaticProviders().flatMap((provider) => {
    const variable = provider.environment?.find((name) => environment(name) !== undefined);
    const isServed = Object.values(protocols).some(({ id }) => provider.protocols[id] !== undefined);
    return variable === undefined || !isServed ? [] : [{ provider, variable }];
  });
}

/** A start without configuration that finds credentials declares: a channel per provider, with all it is known to serve. */
function environmentDeclaration(
  found: readonly FoundProvider[],
  catalogue: CatalogueFiles,
  keys: readonly DeclaredKey[],
  nowMs: number,
): Declaration {
  const models = new Map<string, DeclaredModel>();
  const channels = found.map(({ provider, variable }) => {
    const list = catalogue.priceList(provider.prices ?? '');
    for (const id of Object.keys(list.models))
      if (!models.has(id)) models.set(id, describeModel(id, {}, catalogue, nowMs));
    return describeChannel(provider, variable, list, nowMs);
  });
  return {
    providers: {},
    accounts: [unnamedAccount],
    groups: environmentGroups,
    models: [...models.values()],
    channels,
    keys,
  };
}

function describeChannel(
  provider: ProviderDocument,
  variable: string,
  list: PriceList,
  nowMs: number,
): DeclaredChannel {
  return {
    id: provider.id,
    ...declare(channelFields, provider.id, { provider: provider.id, alias: provider.name }),
    timeouts: declare(timeoutFields, provider.id, {}),
    credentials: [{ kind: 'environment', name: variable }],
    models: Object.entries(list.models).map(([id, listed]) => ({
      modelId: id,
      ...declare(channelModelFields, id, {}),
      ...listCost(list, listed, nowMs),
    })),
  };
}
