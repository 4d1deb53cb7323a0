import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Model, Provider } from '../../catalogue/catalogue.ts';
import { modelId } from '../../catalogue/identifiers.ts';
import { type ModelFacts, unknownModel } from '../../catalogue/model-facts.ts';
import { type ListedModel, priceAt } from '../../catalogue/price-book.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';
import { outputPrice, perMillion } from '../model-prices.ts';

/** Plain input and output, in USD per million tokens. */
export interface PlainPrice {
  readonly input: string;
  readonly output: string;
}

/** A model that an upstream lists, with what the catalogue knows of it. */
export interface DiscoveredModel {
  /** Its name there. */
  readonly upstream: string;
  /** The public name that it would usually have; unique among those that were found. */
  readonly id: string;
  readonly name: string | null;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly tools: boolean | null;
  readonly reasons: boolean | null;
  /** Callers would pay this; null where nobody says it. */
  readonly price: PlainPrice | null;
  /** The provider asks this for it. */
  readonly cost: PlainPrice | null;
  /** True where the catalogue has facts of it. */
  readonly isKnown: boolean;
  /** True where there is a public model of this name already. */
  readonly isServed: boolean;
}

export interface DiscoveryTools {
  readonly catalogue: CatalogueFiles;
  readonly models: ReadonlyMap<string, Model>;
  readonly nowMs: number;
}

/** An upstream that lists more than these is read so far. */
const listedMax = 2_000;
/** Look-ups in one turn of the loop. */
const perTurn = 8;

/** The names in a list of models, in any of the shapes that providers have; null where it is none of them. */
export function listedNames(body: string): readonly string[] | null {
  const list = listIn(parsed(body));
  if (list === null) return null;
  const names = list.flatMap((entry) => nameIn(entry) ?? []);
  return [...new Set(names)].slice(0, listedMax);
}

/** Finds out what is known of the models that an upstream has. */
export async function discoverModels(
  provider: Pick<Provider, 'id'>,
  names: readonly string[],
  tools: DiscoveryTools,
): Promise<readonly DiscoveredModel[]> {
  await tools.catalogue.warm(nextTurn);
  const publicNames = publicNamesOf(names);
  const found: DiscoveredModel[] = [];
  for (const [at, upstream] of names.entries()) {
    if (at % perTurn === 0) await nextTurn();
    const id = publicNames.get(upstream);
    if (id !== undefined) found.push(describe(provider, upstream, id, tools));
  }
  return found;
}

function describe(
  { id: providerId }: Pick<Provider, 'id'>,
  upstream: string,
  id: string,
  { catalogue, models, nowMs }: DiscoveryTools,
): DiscoveredModel {
  const facts: ModelFacts = catalogue.models().find(providerId, upstream);
  const isKnown = facts !== unknownModel;
  const document = catalogue.provider(providerId);
  const listed = catalogue.priceList(document?.prices ?? '').find(upstream);
  const sold = catalogue.prices().find(id, nowMs)?.model ?? null;
  return {
    upstream,
    id,
    name: isKnown ? facts.name : null,
    contextWindow: facts.contextWindow,
    maxOutputTokens: facts.maxOutputTokens,
    inputModalities: facts.inputModalities ?? [],
    outputModalities: facts.outputModalities ?? [],
    tools: facts.tools,
    reasons: facts.reasoning.mode === 'unknown' ? null : facts.reasoning.mode !== 'none',
    price: plainPriceOf(sold, nowMs),
    cost: plainPriceOf(listed, nowMs),
    isKnown,
    isServed: models.has(id),
  };
}

function plainPriceOf(listed: ListedModel | null, nowMs: number): PlainPrice | null {
  const classes = listed === null ? undefined : priceAt(listed, nowMs)?.[0]?.classes;
  if (classes === undefined) return null;
  return { input: perMillion(classes.input), output: perMillion(outputPrice(classes)) };
}

/** The name without its maker's before it, unless two of the list would have the same then. */
function publicNamesOf(names: readonly string[]): ReadonlyMap<string, string> {
  const bare = (name: string) => name.slice(name.lastIndexOf('/') + 1);
  const counts = Map.groupBy(names, bare);
  const entries = names.map((name) => {
    const short = bare(name);
    return [name, counts.get(short)?.length === 1 ? short : name] as const;
  });
  return new Map(entries.filter(([, id]) => modelId.safeParse(id).success));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `{ data: […] }`, `{ models: […] }`, or the list itself. */
function listIn(value: unknown): readonly unknown[] | null {
  if (isList(value)) return value;
  if (typeof value !== 'object' || value === null) return null;
  const members = new Map<string, unknown>(Object.entries(value));
  return ['data', 'models', 'result'].map((name) => members.get(name)).find(isList) ?? null;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** `id`, else `name`, which some write as `models/NAME`; or a bare text. */
function nameIn(entry: unknown): string | null {
  if (typeof entry === 'string') return entry;
  if (typeof entry !== 'object' || entry === null) return null;
  const members = new Map<string, unknown>(Object.entries(entry));
  const name = [members.get('id'), members.get('name')].find((each) => typeof each === 'string');
  return name === undefined ? null : String(name).replace(/^models\//, '');
}
