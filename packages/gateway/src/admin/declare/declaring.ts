import type { ListedModel, PriceList, PriceOrigin } from '../../catalogue/price-book.ts';
import { type ConfigurationFile, shapeProblems } from '../../config/configuration-file.ts';
import type { PriceShape } from '../../config/configuration-schema.ts';
import { type ProviderDocument, providerDocument } from '../../config/provider-document.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { ConfigurationProblem, YamlPath } from '../../config/yaml-source.ts';
import type { Environment } from '../../config.ts';
import type { PriceTier } from '../../money/price.ts';
import {
  fillPriceTiers,
  type ImagePriceText,
  isPiece,
  type PriceClass,
  type PriceText,
  type PriceTierText,
  priceClassNames,
  readPriceTiers,
  type SearchPriceText,
} from '../../money/price-terms.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';
import type { KeyHashes } from '../keys.ts';

/** The facts that a file is declared against. */
export interface DeclareTools extends KeyHashes {
  readonly catalogue: CatalogueFiles;
  readonly environment: Environment;
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

/** Finds providers: the file's own, the catalogue's with the file's changes, and the catalogue's as they are. */
export interface ProviderLookup {
  /** Every provider that the file names, whole. */
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

/** A price as a file says it. */
export interface DeclaredPrice {
  readonly tiers: readonly PriceTier[];
  /** Its own words, where it leaves out what the list price says; null where it is whole. */
  readonly own: readonly PriceTierText[] | null;
}

/** Who says a price that the operator has written, alone or with a list that has the rest. */
export function originOf(
  { own }: DeclaredPrice,
  list: PriceList | null,
  listed: ListedModel | null,
): PriceOrigin {
  if (own === null || list === null || listed === null) return { by: 'operator', list: null, asOf: null };
  return { by: 'both', list: list.id, asOf: list.asOf(listed), own };
}

/**
 * Reads a price from the file's own text, so that no digit passes through a float; what it leaves out is as the list price has it. Null,
 * with a complaint, when it is wrong.
 */
export function declarePrice(
  declaring: Declaring,
  shape: PriceShape,
  path: YamlPath,
  list: readonly PriceTierText[] | null,
): DeclaredPrice | null {
  const hasLists = shape.images !== undefined || shape.searches !== undefined;
  if (!hasLists && !priceClassNames.some((name) => shape[name] !== undefined)) {
    complain(declaring, path, 'gives no price; write at least input and output');
    return null;
  }
  const placed = placedTiers(declaring, shape, path);
  if (placed === null) return null;
  const [base, ...further] = placed.map(({ place, text }) => ({
    ...text,
    prices: pricesAt(declaring, place),
  }));
  if (base === undefined) throw new Error('a price has a first tier');
  const images = imageTexts(declaring, shape, path);
  const searches = searchTexts(declaring, shape, path);
  const regions = regionTexts(declaring, shape, path);
  const lists = {
    ...(images.length === 0 ? {} : { images }),
    ...(searches.length === 0 ? {} : { searches }),
    ...(Object.keys(regions).length === 0 ? {} : { regions }),
  };
  const own = [{ ...base, ...lists }, ...further];
  const texts = list === null || isWhole(shape) ? own : fillPriceTiers(own, list);
  refuseHalf(declaring, path, shape, texts[0]?.prices ?? {});
  const read = readPriceTiers(texts);
  if (read.ok) return { tiers: read.value, own: JSON.stringify(texts) === JSON.stringify(own) ? null : own };
  const { tier, path: within, reason } = read.error;
  complain(declaring, [...(placed[tier]?.place ?? path), ...within], reason);
  return null;
}

/** Images that are priced by the piece must not be charged by their tokens besides. */
function isWhole({ whole, perImage, images }: PriceShape): boolean {
  return whole ?? (perImage !== undefined || images !== undefined);
}

/** Nothing is free because somebody forgot to say what it costs. */
function refuseHalf(declaring: Declaring, path: YamlPath, { whole }: PriceShape, prices: PriceText): void {
  if (priceClassNames.every((name) => prices[name] === undefined || isPiece(name))) return;
  for (const name of ['input', 'output'] as const) {
    if (prices[name] !== undefined) continue;
    const why = whole === true ? '' : ', and the catalogue has no price of this model to take it from';
    complain(declaring, path, `leaves out ${name}${why}; write ${name}: 0 if it is free`);
  }
}

interface PlacedTier {
  readonly place: YamlPath;
  readonly text: Pick<PriceTierText, 'aboveInputTokens' | 'service'>;
}

/** The standard tiers, then those of each service. */
function placedTiers(declaring: Declaring, shape: PriceShape, path: YamlPath): readonly PlacedTier[] | null {
  const services = Object.entries(shape.services ?? {}).map(
    ([service, { tiers = [] }]) => [[...path, 'services', service], tiers, { service }] as const,
  );
  const placed: PlacedTier[] = [];
  for (const [place, tiers, service] of [[path, shape.tiers ?? [], {}] as const, ...services]) {
    const thresholds = [0, ...tiers.map((tier) => tier.aboveInputTokens)];
    if (new Set(thresholds).size < thresholds.length) {
      complain(declaring, [...place, 'tiers'], 'has two tiers that begin at the same size');
      return null;
    }
    for (const [index, aboveInputTokens] of thresholds.entries())
      placed.push({
        place: index === 0 ? place : [...place, 'tiers', index - 1],
        text: { aboveInputTokens, ...service },
      });
  }
  return placed;
}

function imageTexts({ file }: Declaring, { images }: PriceShape, path: YamlPath): readonly ImagePriceText[] {
  return (images ?? []).map(({ price: _, ...kind }, index) => ({
    ...kind,
    price: file.source.exactText([...path, 'images', index, 'price']) ?? '',
  }));
}

function searchTexts(
  declaring: Declaring,
  { searches }: PriceShape,
  path: YamlPath,
): readonly SearchPriceText[] {
  return (searches ?? []).map(({ context }, index) => {
    const { perCall, perWebSearch } = pricesAt(declaring, [...path, 'searches', index]);
    return {
      context,
      ...(perCall === undefined ? {} : { perCall }),
      ...(perWebSearch === undefined ? {} : { perWebSearch }),
    };
  });
}

function regionTexts(
  { file }: Declaring,
  { regions }: PriceShape,
  path: YamlPath,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(regions ?? {}).map((region) => [
      region,
      file.source.exactText([...path, 'regions', region]) ?? '',
    ]),
  );
}

function pricesAt({ file }: Declaring, place: YamlPath): PriceText {
  const written = priceClassNames.flatMap((name): [PriceClass, string][] => {
    const text = file.source.exactText([...place, name]);
    return text === null ? [] : [[name, text]];
  });
  return Object.fromEntries(written);
}
