import { fail, type Result, succeed } from '@headgate/protocols';
import { type ConfigurationFile, settingText } from './config/configuration-file.ts';
import type { Setting } from './config/setting.ts';
import { type SettingName, type Settings, settingRows } from './config/settings-table.ts';
import type { ConfigurationProblem } from './config/yaml-source.ts';

export type { Settings } from './config/settings-table.ts';

/** Looks up an environment variable; an empty one counts as absent. */
export type Environment = (name: string) => string | undefined;

/** The process's environment: this function is the one place that touches it. */
export function processEnvironment(): Environment {
  return environmentOf(process.env);
}

/** The same for a process that goes on for this one, and is to know it. */
export function successorVariables(): Readonly<Record<string, string | undefined>> {
  return { ...process.env, [successorVariable]: '1' };
}

/** Set where a gateway was started by the one before it, and never by an operator. */
export const successorVariable = 'HEADGATE_SUCCESSOR';

export function environmentOf(variables: Readonly<Record<string, string | undefined>>): Environment {
  return (name) => (Object.hasOwn(variables, name) ? variables[name] || undefined : undefined);
}

/** Sources of values, the winner first: flags, environment, configuration file. */
export interface SettingSources {
  /** By flag name without dashes; switches are `true` or `false`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Environment;
  readonly file: ConfigurationFile | null;
}

/** The layers that settings are made in, the winner first; what is in none of them is as it comes. */
export type SettingLayer = 'flag' | 'environment' | 'file' | 'console';

/** A setting as it was written. */
export interface GivenText {
  readonly text: string;
  /** `--api-port`, `HEADGATE_API_PORT`, `headgate.yaml:3:9` or `console`. */
  readonly where: string;
  readonly layer: SettingLayer;
}

/** Reads every setting. All that is wrong is reported at once, each with the place it was given at. */
export function readSettings(sources: SettingSources): Result<Settings, readonly ConfigurationProblem[]> {
  const values: [SettingName, unknown][] = [];
  const problems: ConfigurationProblem[] = [];
  for (const [name, row] of settingRows()) {
    const read = readSetting(row, sources);
    if (read.ok) values.push([name, read.value]);
    else problems.push(read.error);
  }
  if (problems.length > 0) return fail(problems);
  // Every row of the table has put in a value of its own type; Object.fromEntries cannot say so.
  return succeed(Object.fromEntries(values) as unknown as Settings);
}

/** The settings that somebody has given, as they were written and where; a secret is there with its place alone. */
export type GivenSettings = Readonly<Partial<Record<SettingName, GivenText>>>;

export function givenSettings(sources: SettingSources): GivenSettings {
  const all = settingRows().flatMap(([name, row]) => {
    const given = givenText(row, sources);
    if (given === null) return [];
    return [[name, row.section === 'Secrets' ? { ...given, text: '' } : given] as const];
  });
  return Object.fromEntries(all);
}

/** Reads one setting before the configuration file is known, as finding that file needs. */
export function readSetting<Value>(
  row: Setting<Value>,
  sources: SettingSources,
): Result<Value, ConfigurationProblem> {
  const given = givenText(row, sources);
  if (given === null) return succeed(row.defaultValue);
  const value = row.read(given.text.trim());
  if (value.ok) return value;
  // A URL may have a password in it, where none belongs.
  const shown = row.section === 'Secrets' || given.text.includes('@') ? 'the value' : `"${given.text}"`;
  return fail({ where: given.where, path: '', message: `${shown} ${value.error}` });
}

function givenText(row: Setting<unknown>, { flags, environment, file }: SettingSources): GivenText | null {
  const flag = row.flag === null ? undefined : flags[row.flag];
  if (flag !== undefined) return { text: flag, where: `--${row.flag}`, layer: 'flag' };
  const variable = environment(row.environment);
  if (variable !== undefined) return { text: variable, where: row.environment, layer: 'environment' };
  const written = file === null || row.yaml === null ? null : settingText(file, row.yaml);
  return written === null ? null : { ...written, layer: 'file' };
}
