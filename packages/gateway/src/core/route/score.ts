import type { RoutingPreset } from '../catalogue.ts';

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

/** J: what one successful call is expected to cost there, all told. */
export function score(prospect: Prospect, stakes: Stakes): number {
  const total =
    prospect.price + waiting(prospect, stakes) + failing(prospect, stakes) + breaking(prospect, stakes);
  return total * prospect.slowStart;
}

function waiting({ waitMs }: Prospect, { perMs }: Stakes): number {
  return perMs * waitMs;
}

/** Failures to be expected before a success, times what one costs. */
function failing({ chance, failureMs }: Prospect, { perMs, perFailure, lastHope }: Stakes): number {
  return ((1 - chance) / chance) * (perMs * failureMs + perFailure * lastHope);
}

/** An answer that breaks off is lost, and half of it is paid for. */
function breaking({ breakShare, price }: Prospect, { perFailure }: Stakes): number {
  return breakShare * (perFailure + price / 2);
}
