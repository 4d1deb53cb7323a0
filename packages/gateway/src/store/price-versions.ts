import type { Kysely } from 'kysely';
import type { DeclaredChannel, DeclaredModel } from '../catalogue/entities.ts';
import type { LaterPrice, PriceOrigin } from '../catalogue/price-book.ts';
import { isDeclared, isOperators, lastDue, timelineOf } from '../catalogue/price-timeline.ts';
import type { PriceTier } from '../money/price.ts';
import type {
  ConfigurationChange,
  ConfigurationSource,
  OperatorPrice,
  StoredPrice,
} from '../ports/configuration-store.ts';
import { channelPriceSubject, encodeTiers, loadPrices, modelPriceSubject } from './load-configuration.ts';
import type { Schema } from './schema.ts';

/** The price of a subject as its source says it; without tiers it withdraws. */
interface SubjectPrice {
  readonly subject: string;
  readonly tiers: readonly PriceTier[];
  readonly origin: PriceOrigin | null;
  readonly later: readonly LaterPrice[];
}

export function declaredPrices(
  models: readonly DeclaredModel[],
  channels: readonly DeclaredChannel[],
): readonly SubjectPrice[] {
  return [
    ...models.map(({ id, price, priceOrigin, priceLater }) => ({
      subject: modelPriceSubject(id),
      tiers: price ?? [],
      origin: priceOrigin,
      later: priceLater ?? [],
    })),
    ...channels.flatMap(({ id, models: served }) =>
      served.map(({ modelId, cost, costOrigin, costLater }) => ({
        subject: channelPriceSubject(id, modelId),
        tiers: cost ?? [],
        origin: costOrigin,
        later: costLater ?? [],
      })),
    ),
  ];
}

/** Adds versions where what is declared differs from what is stored of it. A price no longer declared is withdrawn. */
export async function versionPrices(
  transaction: Kysely<Schema>,
  source: ConfigurationSource,
  declared: readonly SubjectPrice[],
  nowMs: number,
): Promise<readonly ConfigurationChange[]> {
  const stored = Map.groupBy(await loadPrices(transaction), ({ subject }) => subject);
  const changes: ConfigurationChange[] = [];
  for (const { subject, tiers, origin, later } of declared) {
    const known = stored.get(subject) ?? [];
    const current = { fromMs: null, tiers, origin };
    const planned = later.map((each) => ({ ...each, tiers: each.tiers ?? [] }));
    const added = additions(known.filter(isDeclared), current, planned, nowMs);
    await insertVersions(transaction, { subject, source, written: known.length, nowMs }, added);
    if (added.length > 0) changes.push(changeOf(subject, known, added));
  }
  return changes;
}

/** Adds versions to those of the operator's own. */
export async function versionOwnPrices(
  transaction: Kysely<Schema>,
  prices: readonly OperatorPrice[],
  nowMs: number,
): Promise<readonly ConfigurationChange[]> {
  const changes: ConfigurationChange[] = [];
  for (const price of prices) {
    const { subject } = price;
    const known = await loadPrices(transaction, subject);
    const { current, planned } = withOwn(known.filter(isOperators), price, nowMs);
    const added = additions(known.filter(isOperators), current, planned, nowMs);
    await insertVersions(transaction, { subject, source: 'operator', written: known.length, nowMs }, added);
    if (added.length > 0) changes.push(changeOf(subject, known, added));
  }
  return changes;
}

/** A version that is not written yet; `fromMs` null is at once. */
interface NewVersion {
  readonly fromMs: number | null;
  readonly tiers: readonly PriceTier[];
  readonly origin: PriceOrigin | null;
}

interface Plan {
  readonly current: NewVersion;
  readonly planned: readonly (NewVersion & { readonly fromMs: number })[];
}

/** The layer of the operator as it shall be once this price is in it. */
function withOwn(
  versions: readonly StoredPrice[],
  { fromMs, tiers, origin, dropsPlanned }: OperatorPrice,
  nowMs: number,
): Plan {
  const { current, later } = timelineOf(versions, nowMs, lastDue);
  const inForce = { fromMs: null, tiers: current?.tiers ?? [], origin: current?.origin ?? null };
  const planned = later.map(({ fromMs: momentMs, price }) => ({
    fromMs: momentMs,
    tiers: price?.tiers ?? [],
    origin: price?.origin ?? null,
  }));
  if (fromMs === null) return { current: { fromMs, tiers, origin }, planned: dropsPlanned ? [] : planned };
  const before = planned.filter((each) => each.fromMs < fromMs);
  const after = dropsPlanned ? [] : planned.filter((each) => each.fromMs > fromMs);
  return { current: inForce, planned: [...before, { fromMs, tiers, origin }, ...after] };
}

/**
 * The versions to write so that a layer says what is wanted: as few as possible. The one written last holds of those that are due, so
 * a new one ends all that was planned for its moment or later.
 */
function additions(
  versions: readonly StoredPrice[],
  current: Plan['current'],
  planned: Plan['planned'],
  nowMs: number,
): readonly NewVersion[] {
  const stored = timelineOf(versions, nowMs, lastDue);
  const same = stored.later.findIndex(({ fromMs, price }, at) => {
    const wanted = planned[at];
    return wanted?.fromMs !== fromMs || !isSame(price, wanted);
  });
  const kept = same < 0 ? stored.later.length : same;
  const [rest, dropped] = [planned.slice(kept), stored.later.slice(kept)];
  const isAppended =
    dropped.length === 0 || (rest[0]?.fromMs ?? Number.POSITIVE_INFINITY) <= (dropped[0]?.fromMs ?? 0);
  if (isSame(stored.current, current) && isAppended) return rest;
  return [current, ...planned];
}

/** Lists of a later day that say the same make no new version; another one who says it does. */
function isSame(stored: StoredPrice | null, { tiers, origin }: NewVersion): boolean {
  if (encodeTiers(stored?.tiers ?? []) !== encodeTiers(tiers)) return false;
  return tiers.length === 0 || isSameOrigin(stored?.origin ?? null, origin);
}

function isSameOrigin(one: PriceOrigin | null, other: PriceOrigin | null): boolean {
  const [own, others] = [one, other].map((origin) => JSON.stringify(origin?.own));
  return one?.by === other?.by && one?.list === other?.list && own === others;
}

interface Written {
  readonly subject: string;
  readonly source: NonNullable<StoredPrice['source']>;
  /** Versions of the subject so far, of every source. */
  readonly written: number;
  readonly nowMs: number;
}

async function insertVersions(
  transaction: Kysely<Schema>,
  { subject, source, written, nowMs }: Written,
  added: readonly NewVersion[],
): Promise<void> {
  for (const [at, { fromMs, tiers, origin }] of added.entries()) {
    const number = BigInt(written + at + 1);
    await transaction
      .insertInto('prices')
      .values({
        subject,
        version: `${subject}@${number}`,
        number,
        effective_from_ms: BigInt(fromMs ?? nowMs),
        tiers: encodeTiers(tiers),
        origin: origin === null ? null : JSON.stringify(origin),
        source,
        written_at_ms: BigInt(nowMs),
      })
      .execute();
  }
}

function changeOf(
  id: string,
  known: readonly StoredPrice[],
  added: readonly NewVersion[],
): ConfigurationChange {
  const isRemoved = added.every(({ tiers }) => tiers.length === 0);
  return { kind: 'price', id, change: isRemoved ? 'removed' : known.length === 0 ? 'added' : 'changed' };
}
