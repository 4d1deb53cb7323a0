import { versionDate } from './claim.ts';
import type { DraftFacts } from './merge.ts';

/** What we know better than the packages, from where, for some models of a file. */
export interface Correction {
  /** One file, or several that have some of the models. */
  readonly file: string | readonly string[];
  readonly models: readonly string[];
  /** Where it is said, and when it was read. */
  readonly source: string;
  readonly facts: Omit<Partial<DraftFacts>, 'sources'>;
}

/** Lays the corrections over the models of a file. Members of `reasoning` and `parameters` are laid over one by one. */
export function correct(
  file: string,
  models: ReadonlyMap<string, DraftFacts>,
  corrections: readonly Correction[],
): Map<string, DraftFacts> {
  const corrected = new Map(models);
  for (const correction of corrections) {
    const { models: ids, facts } = correction;
    const [first, ...others] = [correction.file].flat();
    if (first !== file && !others.includes(file)) continue;
    // A name that the overlay gives to a model is no model of its own.
    for (const alias of facts.aliases ?? []) corrected.delete(alias);
    for (const id of ids) {
      const known = corrected.get(id) ?? (facts.name === undefined ? null : { sources: {} });
      if (known !== null) corrected.set(id, laidOver(known, facts));
      else if (first === file)
        throw new Error(`the overlay corrects ${file} ${id}, of which no source speaks`);
      layOverVersions(corrected, id, facts);
    }
  }
  return corrected;
}

/** What holds of a model holds of its dated versions, except what they are called and when they came. */
function layOverVersions(models: Map<string, DraftFacts>, id: string, facts: Correction['facts']): void {
  const { name: _, aliases: __, released: ___, ...shared } = facts;
  if (Object.keys(shared).length === 0) return;
  for (const [version, known] of models)
    if (version !== id && version.replace(versionDate, '') === id)
      models.set(version, laidOver(known, shared));
}

function laidOver(known: DraftFacts, facts: Correction['facts']): DraftFacts {
  const fields = Object.keys(facts);
  const sources = Object.fromEntries(
    Object.entries(known.sources)
      .map(([source, names]) => [source, names.filter((name) => !fields.includes(name))] as const)
      .filter(([, names]) => names.length > 0),
  );
  const overlay = [...new Set([...(known.sources['overlay'] ?? []), ...fields])];
  const { reasoning, parameters } = facts;
  return {
    ...known,
    ...facts,
    ...(reasoning !== undefined && { reasoning: reasoningOver(known.reasoning, reasoning) }),
    ...(parameters !== undefined && { parameters: { ...known.parameters, ...parameters } }),
    sources: { ...sources, overlay },
  };
}

/** A model that does not think has no efforts either, whatever a source says. */
function reasoningOver(
  known: DraftFacts['reasoning'],
  reasoning: NonNullable<DraftFacts['reasoning']>,
): NonNullable<DraftFacts['reasoning']> {
  return reasoning.mode === 'none' ? reasoning : { ...known, ...reasoning };
}
