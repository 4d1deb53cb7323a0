import { existsSync } from 'node:fs';
import { fail, type Result, succeed } from '@headgate/protocols';
import { fixedBecause } from '../../config/setting.ts';
import { type SettingName, settingsTable } from '../../config/settings-table.ts';
import type { ConfigurationProblem } from '../../config/yaml-source.ts';
import type { Environment, GivenSettings, GivenText, Settings } from '../../config.ts';
import type { StoredSetting } from '../../ports/configuration-store.ts';
import { readOidcSettings } from '../people/oidc-settings.ts';
import { openAt, openSealingKeys, type SealedPlace, sealingKeysFile } from '../secrets/sealed-secrets.ts';
import { usualProxy } from '../usual-proxy.ts';

/** The settings of flags, environment and file, over what comes as it is. */
export interface DeclaredSettings {
  readonly settings: Settings;
  readonly given: GivenSettings;
}

/** A value of the store that is not followed, and why. */
export interface SettingLeftOut {
  readonly name: string;
  readonly reason: string;
}

/** The settings with those of the console below what is declared. */
export interface LayeredSettings extends DeclaredSettings {
  readonly declared: DeclaredSettings;
  readonly leftOut: readonly SettingLeftOut[];
}

/** Values of the console that were read, by the setting. */
type ConsoleValues = ReadonlyMap<SettingName, { readonly text: string; readonly value: unknown }>;

/** The settings of a gateway whose console keeps none, as in tests that give them themselves. */
export function withoutConsole(settings: Settings, given: GivenSettings = {}): LayeredSettings {
  return { declared: { settings, given }, settings, given, leftOut: [] };
}

/**
 * Puts the values of the console where nothing above them says anything. One that this version does not know, does not change in the
 * console or cannot read is left out, and so are those that would together keep the gateway from starting: no start fails by them.
 */
export function withConsole(
  declared: DeclaredSettings,
  stored: readonly StoredSetting[],
  environment: Environment,
): LayeredSettings {
  const leftOut: SettingLeftOut[] = [];
  const values = new Map<SettingName, { text: string; value: unknown }>();
  for (const setting of stored) {
    const { name } = setting;
    const read = readStored(setting, declared.settings.dataDir);
    if (!read.ok) leftOut.push({ name, reason: read.error });
    else if (isSetting(name) && declaredAbove(declared, name) === undefined) values.set(name, read.value);
  }
  let layered = putOver(declared, values);
  for (const whole of wholes) {
    const problem = whole.problemOf(layered.settings, environment);
    const names = whole.names.filter((name) => values.has(name));
    if (problem === null || names.length === 0) continue;
    for (const name of names) values.delete(name);
    leftOut.push(...names.map((name) => ({ name, reason: problem.message })));
    layered = putOver(declared, values);
  }
  // It is kept as long as the process lives, and may come with the whole file that it was read from.
  return { ...layered, declared: { settings: declared.settings, given: declared.given }, leftOut };
}

/** Something above the console that says it: the setting itself, or the file that a secret is in. */
export function declaredAbove({ given }: DeclaredSettings, name: SettingName): GivenText | undefined {
  return given[name] ?? (name === 'oidcClientSecret' ? given.oidcClientSecretFile : undefined);
}

export function isSetting(name: string): name is SettingName {
  return Object.hasOwn(settingsTable, name);
}

/** The table, the row and the field that a secret among the settings is sealed for. */
export function settingPlace(name: string): SealedPlace {
  return ['console_settings', name, 'sealed'];
}

function readStored(
  { name, text, sealed }: StoredSetting,
  dataDir: string,
): Result<{ text: string; value: unknown }, string> {
  if (!isSetting(name)) return fail('this version has no such setting');
  const row = settingsTable[name];
  if (row.changes !== 'now' && row.changes !== 'restart')
    return fail(`it is not changed in the console: ${fixedBecause[row.changes]}`);
  const opened = sealed === null ? succeed(text ?? '') : openSecret(name, sealed, dataDir);
  if (!opened.ok) return opened;
  const value = row.read(opened.value);
  // A secret is given with its place alone.
  return value.ok ? succeed({ text: text ?? '', value: value.value }) : value;
}

function openSecret(
  name: string,
  sealed: NonNullable<StoredSetting['sealed']>,
  dataDir: string,
): Result<string, string> {
  const path = sealingKeysFile(dataDir);
  // A start makes none: what was sealed under a key that was lost opens again once that is put back.
  if (!existsSync(path)) return fail(`is sealed, and ${path} is gone; put it back from a copy`);
  const keys = openSealingKeys(dataDir);
  return keys.ok ? openAt(keys.value, settingPlace(name), sealed) : keys;
}

function putOver({ settings, given }: DeclaredSettings, values: ConsoleValues): DeclaredSettings {
  const texts = [...values].map(
    ([name, { text }]) => [name, { text, where: 'console', layer: 'console' as const }] as const,
  );
  const read = [...values].map(([name, { value }]) => [name, value] as const);
  return {
    // Each value was read by the row of its name; Object.fromEntries cannot say so.
    settings: { ...settings, ...(Object.fromEntries(read) as Partial<Settings>) },
    given: { ...given, ...Object.fromEntries(texts) },
  };
}

/** Settings that mean something only together, and what is wrong with them. */
interface Whole {
  readonly names: readonly SettingName[];
  problemOf(settings: Settings, environment: Environment): ConfigurationProblem | null;
}

const wholes: readonly Whole[] = [
  {
    names: [
      ...(['oidcIssuer', 'oidcClientId', 'oidcName', 'oidcAllowPrivate'] as const),
      ...(['oidcRoleClaim', 'oidcRoles', 'oidcClientSecret'] as const),
    ],
    problemOf: (settings) => firstProblem(readOidcSettings(settings)),
  },
  {
    names: ['upstreamProxy', 'upstreamProxyCredential'],
    problemOf: (settings, environment) => firstProblem(usualProxy(settings, environment)),
  },
];

/** The problem that would keep a gateway with these settings from starting. */
export function wholeProblem(settings: Settings, environment: Environment): ConfigurationProblem | null {
  for (const { problemOf } of wholes) {
    const problem = problemOf(settings, environment);
    if (problem !== null) return problem;
  }
  return null;
}

function firstProblem(read: Result<unknown, readonly ConfigurationProblem[]>): ConfigurationProblem | null {
  return read.ok ? null : (read.error[0] ?? null);
}
