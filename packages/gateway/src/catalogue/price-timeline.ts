import type { StoredPrice } from '../ports/configuration-store.ts';

/** The price from a moment on; null is none. */
export interface PriceSpan {
  readonly fromMs: number;
  readonly price: StoredPrice | null;
}

/** The price of a subject from now on: what is in force, and what is planned after it, soonest first. */
export interface PriceTimeline {
  readonly current: StoredPrice | null;
  readonly later: readonly PriceSpan[];
}

/** A rule by which one of the versions of a subject holds at a moment. The versions are in the order in which they were written. */
type Holds = (versions: readonly StoredPrice[], atMs: number) => StoredPrice | null;

/** A version that was to hold as soon as it was written stays due, wherever the clock goes; one that was planned goes by the clock. */
function isDue({ effectiveFromMs, writtenAtMs }: StoredPrice, atMs: number): boolean {
  return effectiveFromMs <= Math.max(atMs, writtenAtMs);
}

/** The version written last holds of those that are due, also where it ends what was planned before it. */
export const lastDue: Holds = (versions, atMs) => versions.findLast((each) => isDue(each, atMs)) ?? null;

/** The operator's own version stands before all that files and starts declare, until it is withdrawn; one without tiers withdraws. */
export const inForce: Holds = (versions, atMs) => {
  const own = lastDue(versions.filter(isOperators), atMs);
  const price = hasTiers(own) ? own : lastDue(versions.filter(isDeclared), atMs);
  return hasTiers(price) ? price : null;
};

export function isOperators({ source }: StoredPrice): boolean {
  return source === 'operator';
}

export function isDeclared(price: StoredPrice): boolean {
  return !isOperators(price);
}

function hasTiers(price: StoredPrice | null): price is StoredPrice {
  return price !== null && price.tiers.length > 0;
}

/** The timeline of one subject, of all its versions or of those of one layer. */
export function timelineOf(
  versions: readonly StoredPrice[],
  nowMs: number,
  holds: Holds = inForce,
): PriceTimeline {
  const current = holds(versions, nowMs);
  const later: PriceSpan[] = [];
  let before = current;
  for (const fromMs of plannedMoments(versions, nowMs)) {
    const price = holds(versions, fromMs);
    if (price?.version !== before?.version) later.push({ fromMs, price });
    before = price;
  }
  return { current, later };
}

function plannedMoments(versions: readonly StoredPrice[], nowMs: number): readonly number[] {
  const planned = versions
    .filter((each) => !isDue(each, nowMs))
    .map(({ effectiveFromMs }) => effectiveFromMs);
  return [...new Set(planned)].sort((a, b) => a - b);
}

/** The price in force of every subject that has one. */
export function pricesInForce(
  prices: readonly StoredPrice[],
  nowMs: number,
): ReadonlyMap<string, StoredPrice> {
  const found = new Map<string, StoredPrice>();
  for (const [subject, versions] of Map.groupBy(prices, (price) => price.subject)) {
    const price = inForce(versions, nowMs);
    if (price !== null) found.set(subject, price);
  }
  return found;
}

/** The time in which no planned price begins: a clock before or behind it finds other prices. Null is no bound. */
export interface SteadyTime {
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

export function steadyTime(prices: readonly StoredPrice[], nowMs: number): SteadyTime {
  let [fromMs, untilMs]: [number | null, number | null] = [null, null];
  for (const { effectiveFromMs, writtenAtMs } of prices) {
    if (effectiveFromMs <= writtenAtMs) continue;
    if (effectiveFromMs > nowMs) untilMs = Math.min(untilMs ?? effectiveFromMs, effectiveFromMs);
    else fromMs = Math.max(fromMs ?? effectiveFromMs, effectiveFromMs);
  }
  return { fromMs, untilMs };
}
