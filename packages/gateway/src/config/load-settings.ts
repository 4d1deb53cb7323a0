import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail, type Result, succeed } from '@headgate/protocols';
import {
  type Environment,
  type GivenSettings,
  givenSettings,
  readSetting,
  readSettings,
  type Settings,
} from '../config.ts';
import { type ConfigurationFile, readConfigurationFile } from './configuration-file.ts';
import { settingsTable } from './settings-table.ts';
import type { ConfigurationProblem } from './yaml-source.ts';

/** Looked for in the working directory when no file is named. */
const usualFile = 'headgate.yaml';

/** Settings, and the configuration file that was read for them: one of many keys takes long to read, and much room. */
export interface LoadedSettings {
  readonly settings: Settings;
  readonly given: GivenSettings;
  /** Null where there is none. */
  readonly file: ConfigurationFile | null;
}

/** Reads flags, environment and configuration file into settings, the file's name among them, absolute. */
export function loadSettings(
  flags: Readonly<Record<string, string>>,
  environment: Environment,
  directory: string,
): Result<LoadedSettings, readonly ConfigurationProblem[]> {
  const named = readSetting(settingsTable.config, { flags, environment, file: null });
  if (!named.ok) return fail([named.error]);
  const usual = resolve(directory, usualFile);
  const path = named.value === null ? (existsSync(usual) ? usual : null) : resolve(directory, named.value);
  const file = path === null ? null : readConfigurationText(path);
  if (file !== null && !file.ok) return file;
  const sources = { flags, environment, file: file?.value ?? null };
  const settings = readSettings(sources);
  if (!settings.ok) return settings;
  const dataDir = resolve(directory, settings.value.dataDir);
  return succeed({
    settings: { ...settings.value, config: path, dataDir },
    given: givenSettings(sources),
    file: sources.file,
  });
}

/** Reads a configuration file from disk. One that is not there is a problem like any other. */
export function readConfigurationText(
  path: string,
): Result<ConfigurationFile, readonly ConfigurationProblem[]> {
  if (!existsSync(path)) {
    return fail([
      {
        where: path,
        path: '',
        message: 'there is no such file; name another with --config or HEADGATE_CONFIG',
      },
    ]);
  }
  return readConfigurationFile(readFileSync(path, 'utf8'), path);
}
