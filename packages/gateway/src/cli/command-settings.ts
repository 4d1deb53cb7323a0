import { type Result, succeed } from '@headgate/protocols';
import { storeFile } from '../admin/owner-files.ts';
import { type LayeredSettings, withConsole } from '../admin/settings/layered-settings.ts';
import { type LoadedSettings, loadSettings } from '../config/load-settings.ts';
import type { ConfigurationProblem } from '../config/yaml-source.ts';
import { readStoredSettings } from '../store/sqlite/read-settings.ts';
import type { CommandContext } from './command.ts';

/** The settings that a command goes by: those that are declared, and below them those of the console. */
export interface CommandSettings extends LoadedSettings {
  readonly layers: LayeredSettings;
}

export function loadCommandSettings({
  flags,
  environment,
  directory,
}: Pick<CommandContext, 'flags' | 'environment' | 'directory'>): Result<
  CommandSettings,
  readonly ConfigurationProblem[]
> {
  const loaded = loadSettings(flags, environment, directory);
  if (!loaded.ok) return loaded;
  const stored = readStoredSettings(storeFile(loaded.value.settings.dataDir));
  const layers = withConsole(loaded.value, stored, environment);
  return succeed({ ...loaded.value, settings: layers.settings, given: layers.given, layers });
}
