import { join } from 'node:path';
import type { Platform } from '@headgate/protocols';
import { z } from 'zod';
import type { Environment } from '../config.ts';
import { isWellFormedKey, keyHint } from '../core/key.ts';
import type {
  ConfigurationStore,
  DeclaredKey,
  StoredConfiguration,
  StoredKey,
} from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';
import { demoAccountId, demoDeclaration, demoGroups } from './demo.ts';
import { environmentDeclaration, findEnvironmentProviders } from './environment-channels.ts';
import { generateKey } from './key-secret.ts';
import { readOrCreateOwnerFile } from './owner-file.ts';

/** Keys in plain text, by the platform they call. */
export type PlainKeys = Readonly<Record<Platform, string>>;

/**
 * What a start without configuration came to: `demo` with simulated channels, whose keys are kept readable because they
 * buy nothing; `environment` with real ones, whose keys are known only to the start that made them; `none` when there
 * is a configuration already.
 */
export type SelfConfiguration =
  | { readonly kind: 'demo'; readonly keys: PlainKeys }
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

/** Configures a store that nobody has configured, or brings what an earlier start put there up to date. */
export async function configureItself(tools: SelfConfigurationTools): Promise<SelfConfiguration> {
  const stored = await tools.store.load();
  if (!isOurs(stored)) return { kind: 'none' };
  const found = findEnvironmentProviders(tools.catalogue, tools.environment);
  if (found.length === 0) return configureDemo(tools);
  const { keys, plain } = environmentKeys(tools, stored);
  await withdraw(tools, 'demo');
  await tools.store.apply(
    'environment',
    environmentDeclaration(found, tools.catalogue, keys, tools.nowMs),
    tools.nowMs,
  );
  return { kind: 'environment', keys: plain, variables: found.map(({ variable }) => variable) };
}

/** Withdraws what starts without configuration have put into the store, because an operator's configuration takes over. */
export async function yieldToOperator(store: ConfigurationStore, nowMs: number): Promise<void> {
  const stored = await store.load();
  const sources = new Set(stored.keys.map((key) => key.source));
  if (sources.has('demo')) await withdraw({ store, nowMs }, 'demo');
  if (sources.has('environment')) await withdraw({ store, nowMs }, 'environment');
}

/** Nothing is there yet, or what is there was put there by an earlier start like this one. */
function isOurs(stored: StoredConfiguration): boolean {
  if (stored.groups.length === 0 && stored.channels.length === 0) return true;
  return activeKeys(stored).some((key) => key.source === 'demo' || key.source === 'environment');
}

function activeKeys(stored: StoredConfiguration): readonly StoredKey[] {
  return stored.keys.filter((key) => key.status === 'active');
}

async function withdraw(
  { store, nowMs }: Pick<SelfConfigurationTools, 'store' | 'nowMs'>,
  source: 'demo' | 'environment',
): Promise<void> {
  const nothing = { providers: {}, accounts: [], groups: [], models: [], channels: [], keys: [] };
  await store.apply(source, nothing, nowMs);
}

async function configureDemo(tools: SelfConfigurationTools): Promise<SelfConfiguration> {
  const plain = readDemoKeys(tools.dataDir);
  await withdraw(tools, 'environment');
  await tools.store.apply('demo', demoDeclaration(declareKeys('demo', plain, tools.hashKey)), tools.nowMs);
  return { kind: 'demo', keys: plain };
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
  const known = activeKeys(stored).filter((key) => key.source === 'environment');
  if (known.length > 0) return { keys: known, plain: null };
  const plain = newKeys();
  return { keys: declareKeys('first', plain, tools.hashKey), plain };
}

function newKeys(): PlainKeys {
  return { completions: generateKey(), messages: generateKey(), native: generateKey() };
}

function declareKeys(
  prefix: string,
  plain: PlainKeys,
  hashKey: (key: string) => string,
): readonly DeclaredKey[] {
  return demoGroups.map((group) => ({
    id: `${prefix}-${group.platform}-${hashKey(plain[group.platform]).slice(0, 8)}`,
    name: `${group.name} key`,
    accountId: demoAccountId,
    groupId: group.id,
    hash: hashKey(plain[group.platform]),
    hint: keyHint(plain[group.platform]),
    models: null,
    expiresAtMs: null,
  }));
}
