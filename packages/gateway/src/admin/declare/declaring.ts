import { type ConfigurationFile, shapeProblems } from '../../config/configuration-file.ts';
import { type ProviderDocument, providerDocument } from '../../config/provider-document.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { ConfigurationProblem, YamlPath } from '../../config/yaml-source.ts';
import type { Environment } from '../../config.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';
import type { KeyHashes } from '../keys.ts';

/** The facts that a file is declared against. */
export interface DeclareTools extends KeyHashes {
  readonly catalogue: CatalogueFiles;
  readonly environment: Environment;
  readonly nowMs: number;
}

/** A file on its way to a declaration: what it says, what it is held against, and what is wrong with it so far. */
export interface Declaring extends DeclaringChannels {
  readonly tools: DeclareTools;
}

/** The same, as far as channels and their providers need it. */
export interface DeclaringChannels {
  readonly file: ConfigurationFile;
  readonly tools: Pick<DeclareTools, 'catalogue' | 'nowMs'>;
  readonly problems: ConfigurationProblem[];
}

/** A text that is read, and what is wrong with it so far. */
export interface Placed {
  readonly file: Pick<ConfigurationFile, 'source'>;
  readonly problems: ConfigurationProblem[];
}

export function complain({ file, problems }: Placed, path: YamlPath, message: string): void {
  problems.push({ where: file.source.where(path), path: path.join('.'), message });
}

/** Complains unless the name is one of the known ones. */
export function requireKnown(
  placed: Placed,
  path: YamlPath,
  kind: string,
  name: string,
  known: Iterable<string>,
): void {
  const names = new Set(known);
  if (!names.has(name)) complain(placed, path, `there is no ${kind} "${name}"${didYouMean(name, names)}`);
}

/** Finds providers: the file's own, the catalogue's with the file's changes, and the catalogue's as they are. */
export interface ProviderLookup {
  /** Every provider that the file names, whole. */
  readonly declared: ReadonlyMap<string, ProviderDocument>;
  find(id: string): ProviderDocument | null;
  /** `; did you mean "openai"?` */
  suggestion(id: string): string;
}

export function declareProviders(declaring: DeclaringChannels): ProviderLookup {
  const { catalogue } = declaring.tools;
  const declared = new Map<string, ProviderDocument>();
  for (const id of Object.keys(declaring.file.shape.providers ?? {})) {
    const document = declareProvider(declaring, id);
    if (document !== null) declared.set(id, document);
  }
  return {
    declared,
    find: (id) => declared.get(id) ?? catalogue.provider(id),
    suggestion: (id) => didYouMean(id, [...declared.keys(), ...catalogue.providerIds]),
  };
}

function declareProvider(declaring: DeclaringChannels, id: string): ProviderDocument | null {
  const { shape, source } = declaring.file;
  const known = declaring.tools.catalogue.provider(id);
  const given = shape.providers?.[id] ?? {};
  const whole = providerDocument.safeParse({
    ...known,
    ...given,
    dialect: { ...known?.dialect, ...given.dialect },
    id,
  });
  if (whole.success) return whole.data;
  const own = known === null ? '; it is not in the catalogue, so it must be described whole' : '';
  for (const problem of shapeProblems(source, providerDocument, whole.error)) {
    complain(declaring, ['providers', id], `${problem.path}: ${problem.message}${own}`);
  }
  return null;
}
