import { fail, type Result, succeed } from '@headgate/protocols';
import { type ConfigurationShape, configurationSchema } from './configuration-schema.ts';
import type { ConfigurationProblem } from './problem.ts';
import { shapeProblems } from './shape-problems.ts';
import { readYaml, type YamlPath, type YamlSource } from './yaml-source.ts';

/** A configuration file whose shape is right; what it refers to has not been looked up yet. */
export interface ConfigurationFile {
  readonly name: string;
  readonly shape: ConfigurationShape;
  readonly source: YamlSource;
}

/** Reads the text of a configuration file and reports everything that is wrong with it at once. */
export function readConfigurationFile(
  text: string,
  name: string,
): Result<ConfigurationFile, readonly ConfigurationProblem[]> {
  const source = readYaml(text, name);
  if (!source.ok) return source;
  const read = configurationSchema.safeParse(source.value.plain ?? {});
  if (read.success) return succeed({ name, shape: read.data, source: source.value });
  return fail(shapeProblems(source.value, configurationSchema, read.error));
}

/** The text a file gives for a setting, by the setting's dotted path; a list is joined with commas. */
export function settingText(file: ConfigurationFile, yaml: string): { text: string; where: string } | null {
  const path: YamlPath = yaml.split('.');
  const text = file.source.exactText(path);
  return text === null ? null : { text, where: file.source.where(path) };
}
