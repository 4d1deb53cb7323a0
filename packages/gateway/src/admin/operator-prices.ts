import { fail, type Result, succeed } from '@headgate/protocols';
import type { ListPrice } from '../catalogue/price-book.ts';
import { inForce, isOperators, lastDue, timelineOf } from '../catalogue/price-timeline.ts';
import { readTime } from '../config/moment.ts';
import type { WrittenPrice } from '../config/price-shape.ts';
import type { PriceSheet } from '../config/price-sheet.ts';
import { providerDocument } from '../config/provider-document.ts';
import type { ConfigurationProblem, YamlPath } from '../config/yaml-source.ts';
import type { PriceTier } from '../money/price.ts';
import type { OperatorPrice, StoredConfiguration, StoredPrice } from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';
import { declareTimeline } from './declare/declare-price.ts';
import { complain, type Placed, requireKnown } from './declare/declaring.ts';

/** The facts that prices of the operator's are held against. */
export interface PriceTools {
  readonly stored: StoredConfiguration;
  readonly catalogue: CatalogueFiles;
  readonly nowMs: number;
}

/** A subject as an operator names it: what callers pay for a model, or what it costs on a channel. */
export interface PricePlace {
  readonly model: string;
  readonly channel: string | null;
}

function subjectOf({ model, channel }: PricePlace): string {
  return channel === null ? `model:${model}` : `channel:${channel}/${model}`;
}

/** The words of a subject for people: `gpt-5`, or `gpt-5 on openai-eu`. */
export function placeText(subject: string): string {
  const [, model] = /^model:(.*)$/s.exec(subject) ?? [];
  if (model !== undefined) return model;
  const [, channel = '', served = ''] = /^channel:([^/]*)\/(.*)$/s.exec(subject) ?? [];
  return `${served} on ${channel}`;
}

/** Reads a file or the words of a command whole: each model and channel is known, each price is right, and none begins in the past. */
export function readOperatorPrices(
  { shape, source }: PriceSheet,
  tools: PriceTools,
): Result<readonly OperatorPrice[], readonly ConfigurationProblem[]> {
  const placed: Placed = { file: { source }, problems: [] };
  const prices: OperatorPrice[] = [];
  for (const [model, written] of Object.entries(shape.prices ?? {}))
    prices.push(...readOne(placed, tools, { model, channel: null }, written, ['prices', model]));
  for (const [channel, costs] of Object.entries(shape.costs ?? {}))
    for (const [model, written] of Object.entries(costs))
      prices.push(...readOne(placed, tools, { model, channel }, written, ['costs', channel, model]));
  return placed.problems.length > 0 ? fail(placed.problems) : succeed(prices);
}

function readOne(
  placed: Placed,
  tools: PriceTools,
  place: PricePlace,
  written: WrittenPrice,
  path: YamlPath,
): readonly OperatorPrice[] {
  if (!isKnown(placed, tools.stored, place, path)) return [];
  const begins = beginningsOf(placed, written, path, tools.nowMs);
  const timeline = declareTimeline(placed, written, path, listPriceOf(tools, place), tools.nowMs);
  if (timeline === null || begins === null) return [];
  const said = { subject: subjectOf(place), dropsPlanned: false };
  const { tiers, origin } = timeline;
  const current = begins.hasCurrent ? [{ ...said, fromMs: null, tiers: tiers ?? [], origin }] : [];
  const later = timeline.later.flatMap((each) =>
    each.fromMs < begins.firstMs ? [] : [{ ...said, ...each, tiers: each.tiers ?? [] }],
  );
  return [...current, ...later];
}

/** True when a channel serves the model, or the named one does. Complains if not. */
export function isKnown(
  placed: Placed,
  { models, channels }: Pick<StoredConfiguration, 'models' | 'channels'>,
  { model, channel }: PricePlace,
  path: YamlPath,
): boolean {
  const before = placed.problems.length;
  const found = channels.find(({ id }) => id === channel);
  if (channel !== null)
    requireKnown(
      placed,
      path.slice(0, -1),
      'channel',
      channel,
      channels.map(({ id }) => id),
    );
  if (placed.problems.length > before) return false;
  const served =
    found === undefined ? models.map(({ id }) => id) : found.models.map(({ modelId }) => modelId);
  requireKnown(placed, path, channel === null ? 'model' : `model of channel "${channel}"`, model, served);
  return placed.problems.length === before;
}

/** When the first of several prices begins. Null, with a complaint, where one would rewrite the past. */
function beginningsOf(
  placed: Placed,
  written: WrittenPrice,
  path: YamlPath,
  nowMs: number,
): { readonly hasCurrent: boolean; readonly firstMs: number } | null {
  const shapes = Array.isArray(written) ? written : [written];
  let isPast = false;
  for (const [at, { from }] of shapes.entries()) {
    if (from === undefined || (readTime(from) ?? 0) > nowMs) continue;
    isPast = true;
    complain(placed, [...path, ...(Array.isArray(written) ? [at] : []), 'from'], pastText(from));
  }
  const first = shapes[0]?.from;
  const firstMs = first === undefined ? nowMs : (readTime(first) ?? nowMs);
  return isPast ? null : { hasCurrent: first === undefined, firstMs };
}

/** The words for a moment that is over: nothing rewrites what was charged. */
export function pastText(from: string): string {
  return `${from} is past, and no price rewrites what has been charged: leave it out to let the price hold from now on, or name a later moment (UTC, or with an offset such as +08:00); what was charged too much is given back by \`headgate accounts credit\``;
}

/** The list that has what a price leaves out: of the model, or of the provider of the channel. */
export function listPriceOf(
  { stored, catalogue, nowMs }: PriceTools,
  { model, channel }: PricePlace,
): ListPrice | null {
  if (channel === null) {
    const pricedAs = stored.models.find(({ id }) => id === model)?.pricedAs ?? null;
    return catalogue.prices().find(pricedAs ?? model, nowMs);
  }
  const found = stored.channels.find(({ id }) => id === channel);
  const served = found?.models.find(({ modelId }) => modelId === model);
  if (found === undefined || served === undefined) return null;
  const json = stored.providers[found.providerId];
  const provider =
    json === undefined
      ? catalogue.provider(found.providerId)
      : providerDocument.safeParse(JSON.parse(json)).data;
  const list = catalogue.priceList(provider?.prices ?? '');
  const listed = list.find(served.upstreamModel);
  return listed === null ? null : { list, model: listed };
}

/** The end of the operator's own price, so that the file's holds again, or the list price; or of its plans alone: then what holds before them goes on. */
export function removalOf(
  { stored, nowMs }: PriceTools,
  place: PricePlace,
  fromMs: number | null,
  onlyPlanned: boolean,
): OperatorPrice | null {
  const subject = subjectOf(place);
  const { current, later } = ownTimeline(stored, subject, nowMs);
  const isSet = current !== null && current.tiers.length > 0;
  if (!isSet && later.length === 0) return null;
  if (onlyPlanned && !later.some((each) => fromMs === null || each.fromMs >= fromMs)) return null;
  if (!onlyPlanned) return { subject, fromMs, tiers: [], origin: null, dropsPlanned: true };
  const before = later.findLast((each) => each.fromMs < (fromMs ?? nowMs));
  const kept = before === undefined ? current : before.price;
  const { tiers, origin } = kept ?? { tiers: [], origin: null };
  return { subject, fromMs: before?.fromMs ?? null, tiers, origin, dropsPlanned: true };
}

function ownTimeline({ prices }: StoredConfiguration, subject: string, nowMs: number) {
  const own = prices.filter((price) => price.subject === subject && isOperators(price));
  return timelineOf(own, nowMs, lastDue);
}

/** A price at a moment, and the one before it, or where it has none to follow the one that was planned for it; null is none. */
export interface PriceStep {
  readonly subject: string;
  readonly fromMs: number | null;
  readonly before: readonly PriceTier[] | null;
  readonly after: readonly PriceTier[] | null;
}

/** The steps from now on of each subject, if these were written. */
export function stepsOf(
  { stored, nowMs }: PriceTools,
  wanted: readonly OperatorPrice[],
): readonly PriceStep[] {
  return [...Map.groupBy(wanted, ({ subject }) => subject)].flatMap(([subject, own]) => {
    const known = stored.prices.filter((price) => price.subject === subject);
    const written = own.reduce<readonly StoredPrice[]>((all, price) => withOwn(all, price, nowMs), known);
    const moments = [nowMs, ...[...known, ...written].map(({ effectiveFromMs }) => effectiveFromMs)];
    const later = [...new Set(moments.filter((each) => each >= nowMs))].sort((a, b) => a - b);
    return later.map((atMs): PriceStep => {
      const [old, after] = [inForce(known, atMs), inForce(written, atMs)];
      const earlier = atMs === nowMs ? old : inForce(written, atMs - 1);
      const before = earlier === after ? old : earlier;
      const fromMs = atMs === nowMs ? null : atMs;
      return { subject, fromMs, before: before?.tiers ?? null, after: after?.tiers ?? null };
    });
  });
}

/** The versions as they would be, with this price among them. What is planned for later stays behind it, unless it is dropped. */
function withOwn(
  versions: readonly StoredPrice[],
  { subject, fromMs, tiers, origin, dropsPlanned }: OperatorPrice,
  nowMs: number,
): readonly StoredPrice[] {
  const version = (of: Pick<StoredPrice, 'tiers' | 'origin'>, effectiveFromMs: number): StoredPrice => ({
    subject,
    version: `${subject}@new`,
    effectiveFromMs,
    tiers: of.tiers,
    origin: of.origin,
    source: 'operator',
    writtenAtMs: nowMs,
  });
  const begin = fromMs ?? nowMs;
  const { later } = timelineOf(versions.filter(isOperators), nowMs, lastDue);
  const kept = dropsPlanned ? [] : later.filter((each) => each.fromMs > begin);
  return [
    ...versions,
    version({ tiers, origin }, begin),
    ...kept.map(({ fromMs: laterMs, price }) => price ?? version({ tiers: [], origin: null }, laterMs)),
  ];
}
