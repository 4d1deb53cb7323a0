import type { RoutingPreset } from '../../catalogue.ts';

/**
 * The expected cost of a successful call on one target (routing.md, "Score"). Amounts are pico-dollars, as numbers: they
 * choose and never charge. Times in milliseconds.
 */
export interface Prospect {
  /** This call's price there. */
  readonly price: number;
  /** Until there is something to read. */
  readonly waitMs: number;
  /** Of first content, above 0. */
  readonly chance: number;
  /** Lost in a failure. */
  readonly failureMs: number;
  /** Of answers that break off after first content. */
  readonly breakShare: number;
  /** From 2 to 1 after re-admission. */
  readonly slowStart: number;
}

/** What time and failure are worth to a call. */
export interface Stakes {
  readonly perMs: number;
  readonly perFailure: number;
  /** The chance that nothing else answers either: 1 for the last attempt. */
  readonly lastHope: number;
}

/** λ in mean costs of a call per second. */
const patience: Readonly<Record<RoutingPreset, number>> = { cost: 0.01, balanced: 0.05, latency: 0.25 };
/** V in mean costs of a call. */
const failureCosts = 5;

/** `meanCost`: of a call of this model, pico-dollars. */
export function stakesOf(meanCost: number, preset: RoutingPreset, lastHope: number): Stakes {
  return { perMs: (patience[preset] * meanCost) / 1000, perFailure: failureCosts * meanCost, lastHope };
}

/**
 * J: what one successful call is expected to cost there, all told. Made of its parts, because of a target that may be
 * better or worse than expected only the chance is another.
 */
export function scoreAt(chance: number, success: number, failure: number): number {
  return success + ((1 - chance) / chance) * failure;
}

/** What a call costs there that is answered at once. */
export function costOfSuccess(prospect: Prospect, { perMs, perFailure }: Stakes): number {
  const { price, waitMs, breakShare, slowStart } = prospect;
  // An answer that breaks off is lost, and half of it is paid for.
  return slowStart * (price + perMs * waitMs + breakShare * (perFailure + price / 2));
}

/** What each failure before a success costs. */
export function costOfFailure({ failureMs, slowStart }: Prospect, stakes: Stakes): number {
  return slowStart * (stakes.perMs * failureMs + stakes.perFailure * stakes.lastHope);
}

/** What a score is made of, in pico-dollars; the parts add up to it. */
export interface ScoreParts {
  readonly price: number;
  /** What the time until there is something to read is worth. */
  readonly waiting: number;
  /** Of failures before first content: the time they take, and what it costs when nothing else answers either. */
  readonly failure: number;
  /** Of answers that break off. */
  readonly breakage: number;
  /** Added while the target is let back in bit by bit. */
  readonly slowStart: number;
}

export function scoreParts(prospect: Prospect, stakes: Stakes): ScoreParts {
  const steady = { ...prospect, slowStart: 1 };
  const { price } = prospect;
  const waiting = stakes.perMs * prospect.waitMs;
  const success = costOfSuccess(steady, stakes);
  const failure = scoreAt(prospect.chance, 0, costOfFailure(steady, stakes));
  return {
    price,
    waiting,
    failure,
    breakage: success - price - waiting,
    slowStart: (success + failure) * (prospect.slowStart - 1),
  };
}
