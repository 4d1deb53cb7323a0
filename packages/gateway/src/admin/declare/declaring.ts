import type { ConfigurationFile } from '../../config/configuration-file.ts';
import type { ConfigurationProblem } from '../../config/problem.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import type { Environment } from '../../config.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';

/** What a file is declared against. */
export interface DeclareTools {
  readonly catalogue: CatalogueFiles;
  readonly environment: Environment;
  /** HMAC of a well-formed key under the current pepper. */
  readonly hashKey: (key: string) => string;
  readonly nowMs: number;
}

/** A file on its way to a declaration: what it says, what it is held against, and what is wrong with it so far. */
export interface Declaring {
  readonly file: ConfigurationFile;
  readonly tools: DeclareTools;
  readonly problems: ConfigurationProblem[];
}

export function complain({ file, problems }: Declaring, path: YamlPath, message: string): void {
  problems.push({ where: file.source.where(path), path: path.join('.'), message });
}

/** Complains unless the name is one of the known ones. */
export function requireKnown(
  declaring: Declaring,
  path: YamlPath,
  kind: string,
  name: string,
  known: Iterable<string>,
): void {
  const names = new Set(known);
  if (!names.has(name)) complain(declaring, path, `there is no ${kind} "${name}"${didYouMean(name, names)}`);
}
