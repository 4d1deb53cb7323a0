import {
  type LaterPrice,
  type ListPrice,
  laterMoments,
  type PriceOrigin,
  priceAt,
  versionAt,
} from '../../catalogue/price-book.ts';
import { readTime } from '../../config/moment.ts';
import type { PriceShape, WrittenPrice } from '../../config/price-shape.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
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
  writePriceTiers,
} from '../../money/price-terms.ts';
import { complain, type Placed } from './declaring.ts';

/** A price as a file says it, at one moment. */
interface DeclaredPrice {
  readonly tiers: readonly PriceTier[];
  /** Its own words, where it leaves out what the list price says; null where it is whole. */
  readonly own: readonly PriceTierText[] | null;
}

/** The price of a subject from now on, as it is declared. */
export interface DeclaredTimeline {
  /** Null where there is none. */
  readonly tiers: readonly PriceTier[] | null;
  readonly origin: PriceOrigin | null;
  readonly later: readonly LaterPrice[];
}

type PriceAtMoment = Pick<DeclaredTimeline, 'tiers' | 'origin'>;

const noPrice: PriceAtMoment = { tiers: null, origin: null };

/** The price of a subject of which nobody has written anything. */
export function listTimeline(listed: ListPrice | null, nowMs: number): DeclaredTimeline {
  return timeline(nowMs, listMoments(listed, nowMs), (atMs) => listedAt(listed, atMs));
}

/**
 * A price, or several with the moments from which they hold. Before the first of these the list price holds; what has begun already
 * holds from now on, and nothing changes what was. Null, with complaints, where something is wrong.
 */
export function declareTimeline(
  placed: Placed,
  written: WrittenPrice,
  path: YamlPath,
  listed: ListPrice | null,
  nowMs: number,
): DeclaredTimeline | null {
  const before = placed.problems.length;
  const entries = entriesOf(placed, written, path);
  for (const entry of entries) priceOf(placed, entry, listed, Math.max(entry.fromMs, nowMs));
  if (placed.problems.length > before) return null;
  const begins = entries.map(({ fromMs }) => fromMs).filter((fromMs) => fromMs > nowMs);
  return timeline(nowMs, [...begins, ...listMoments(listed, nowMs)], (atMs) => {
    const entry = entries.findLast(({ fromMs }) => fromMs <= atMs);
    return entry === undefined ? listedAt(listed, atMs) : priceOf(placed, entry, listed, atMs);
  });
}

function listMoments(listed: ListPrice | null, nowMs: number): readonly number[] {
  return listed === null ? [] : laterMoments(listed.model, nowMs);
}

function timeline(
  nowMs: number,
  moments: readonly number[],
  at: (atMs: number) => PriceAtMoment,
): DeclaredTimeline {
  const current = at(nowMs);
  const later: LaterPrice[] = [];
  for (const fromMs of [...new Set(moments)].sort((a, b) => a - b)) {
    const price = at(fromMs);
    if (!isSame(later.at(-1) ?? current, price)) later.push({ fromMs, ...price });
  }
  return { ...current, later };
}

function isSame(one: PriceAtMoment, other: PriceAtMoment): boolean {
  const text = ({ tiers, origin }: PriceAtMoment) =>
    JSON.stringify([tiers === null ? null : writePriceTiers(tiers), origin]);
  return text(one) === text(other);
}

function listedAt(listed: ListPrice | null, atMs: number): PriceAtMoment {
  const tiers = listed === null ? null : priceAt(listed.model, atMs);
  if (listed === null || tiers === null) return noPrice;
  const { list, model } = listed;
  return { tiers, origin: { by: 'catalogue', list: list.id, asOf: list.asOf(model) } };
}

interface PlacedEntry {
  readonly shape: PriceShape;
  readonly path: YamlPath;
  /** Without a beginning it has always been so. */
  readonly fromMs: number;
}

function entriesOf(placed: Placed, written: WrittenPrice, path: YamlPath): readonly PlacedEntry[] {
  const shapes = Array.isArray(written) ? written : [written];
  const entries: PlacedEntry[] = shapes.map((shape, at) => ({
    shape,
    path: Array.isArray(written) ? [...path, at] : path,
    fromMs: shape.from === undefined ? Number.NEGATIVE_INFINITY : (readTime(shape.from) ?? Number.NaN),
  }));
  for (const [at, entry] of entries.entries()) {
    const previous = entries[at - 1];
    if (previous === undefined || entry.fromMs > previous.fromMs) continue;
    const isMissing = entry.shape.from === undefined;
    complain(
      placed,
      isMissing ? entry.path : [...entry.path, 'from'],
      isMissing
        ? 'leaves out from, as only the first of a list may: say when it begins'
        : 'is not later than that of the price before it; write them in their order',
    );
  }
  return entries;
}

function priceOf(
  placed: Placed,
  { shape, path }: PlacedEntry,
  listed: ListPrice | null,
  atMs: number,
): PriceAtMoment {
  const isBare = Object.keys(shape).every((name) => name === 'from') && shape.from !== undefined;
  const fromList = listedAt(listed, atMs);
  if (isBare && fromList.tiers !== null) return fromList;
  const rest = listed === null ? null : versionAt(listed.model, atMs);
  const price = declarePrice(placed, shape, path, rest?.tiers ?? null);
  return price === null ? noPrice : { tiers: price.tiers, origin: originOf(price, listed) };
}

/** Who says a price that the operator has written, alone or with a list that has the rest. */
function originOf({ own }: DeclaredPrice, listed: ListPrice | null): PriceOrigin {
  if (own === null || listed === null) return { by: 'operator', list: null, asOf: null };
  return { by: 'both', list: listed.list.id, asOf: listed.list.asOf(listed.model), own };
}

/**
 * Reads a price from the file's own text, so that no digit passes through a float; what it leaves out is as the list price has it. Null,
 * with a complaint, when it is wrong.
 */
function declarePrice(
  placed: Placed,
  shape: PriceShape,
  path: YamlPath,
  list: readonly PriceTierText[] | null,
): DeclaredPrice | null {
  const hasLists = shape.images !== undefined || shape.searches !== undefined;
  if (!hasLists && !priceClassNames.some((name) => shape[name] !== undefined)) {
    complain(placed, path, 'gives no price; write at least input and output');
    return null;
  }
  const rows = placedTiers(placed, shape, path);
  if (rows === null) return null;
  const [base, ...further] = rows.map(({ place, text }) => ({
    ...text,
    prices: pricesAt(placed, place),
  }));
  if (base === undefined) throw new Error('a price has a first tier');
  const images = imageTexts(placed, shape, path);
  const searches = searchTexts(placed, shape, path);
  const regions = regionTexts(placed, shape, path);
  const lists = {
    ...(images.length === 0 ? {} : { images }),
    ...(searches.length === 0 ? {} : { searches }),
    ...(Object.keys(regions).length === 0 ? {} : { regions }),
  };
  const own = [{ ...base, ...lists }, ...further];
  const texts = list === null || isWhole(shape) ? own : fillPriceTiers(own, list);
  refuseHalf(placed, path, shape, texts[0]?.prices ?? {});
  const read = readPriceTiers(texts);
  if (read.ok) return { tiers: read.value, own: JSON.stringify(texts) === JSON.stringify(own) ? null : own };
  const { tier, path: within, reason } = read.error;
  complain(placed, [...(rows[tier]?.place ?? path), ...within], reason);
  return null;
}

/** Images that are priced by the piece must not be charged by their tokens besides. */
function isWhole({ whole, perImage, images }: PriceShape): boolean {
  return whole ?? (perImage !== undefined || images !== undefined);
}

/** Nothing is free because somebody forgot to say what it costs. */
function refuseHalf(placed: Placed, path: YamlPath, { whole }: PriceShape, prices: PriceText): void {
  if (priceClassNames.every((name) => prices[name] === undefined || isPiece(name))) return;
  for (const name of ['input', 'output'] as const) {
    if (prices[name] !== undefined) continue;
    const why = whole === true ? '' : ', and the catalogue has no price of this model to take it from';
    complain(placed, path, `leaves out ${name}${why}; write ${name}: 0 if it is free`);
  }
}

interface PlacedTier {
  readonly place: YamlPath;
  readonly text: Pick<PriceTierText, 'aboveInputTokens' | 'service'>;
}

/** The standard tiers, then those of each service. */
function placedTiers(placed: Placed, shape: PriceShape, path: YamlPath): readonly PlacedTier[] | null {
  const services = Object.entries(shape.services ?? {}).map(
    ([service, { tiers = [] }]) => [[...path, 'services', service], tiers, { service }] as const,
  );
  const rows: PlacedTier[] = [];
  for (const [place, tiers, service] of [[path, shape.tiers ?? [], {}] as const, ...services]) {
    const thresholds = [0, ...tiers.map((tier) => tier.aboveInputTokens)];
    if (new Set(thresholds).size < thresholds.length) {
      complain(placed, [...place, 'tiers'], 'has two tiers that begin at the same size');
      return null;
    }
    for (const [index, aboveInputTokens] of thresholds.entries())
      rows.push({
        place: index === 0 ? place : [...place, 'tiers', index - 1],
        text: { aboveInputTokens, ...service },
      });
  }
  return rows;
}

function imageTexts({ file }: Placed, { images }: PriceShape, path: YamlPath): readonly ImagePriceText[] {
  return (images ?? []).map(({ price: _, ...kind }, index) => ({
    ...kind,
    price: file.source.exactText([...path, 'images', index, 'price']) ?? '',
  }));
}

function searchTexts(placed: Placed, { searches }: PriceShape, path: YamlPath): readonly SearchPriceText[] {
  return (searches ?? []).map(({ context }, index) => {
    const { perCall, perWebSearch } = pricesAt(placed, [...path, 'searches', index]);
    return {
      context,
      ...(perCall === undefined ? {} : { perCall }),
      ...(perWebSearch === undefined ? {} : { perWebSearch }),
    };
  });
}

function regionTexts(
  { file }: Placed,
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

function pricesAt({ file }: Placed, place: YamlPath): PriceText {
  const written = priceClassNames.flatMap((name): [PriceClass, string][] => {
    const text = file.source.exactText([...place, name]);
    return text === null ? [] : [[name, text]];
  });
  return Object.fromEntries(written);
}
