import { type ProviderDocument, providerDocument } from '../../config/provider-document.ts';
import { shapeProblems } from '../../config/shape-problems.ts';
import { didYouMean } from '../../config/suggestion.ts';
import { complain, type Declaring } from './declaring.ts';

/** Finds providers: the file's own, the catalogue's with the file's changes, and the catalogue's as they are. */
export interface ProviderLookup {
  /** Those the file names, whole. */
  readonly declared: ReadonlyMap<string, ProviderDocument>;
  find(id: string): ProviderDocument | null;
  /** `; did you mean "openai"?` */
  suggestion(id: string): string;
}

export function declareProviders(declaring: Declaring): ProviderLookup {
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

function declareProvider(declaring: Declaring, id: string): ProviderDocument | null {
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
