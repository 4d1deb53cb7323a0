import type { Facts, ProtocolId } from '@headgate/protocols';
import type { Model, Target } from '../catalogue.ts';
import type { Outcome } from './outcome.ts';

/** The targets of one call in the order in which they are tried. */
export interface Plan {
  /** More than may be tried: some of them cannot be asked for this call, which shows when their turn comes. */
  readonly targets: readonly Target[];
  /** So many attempts may be made. */
  readonly attemptsMax: number;
  /** Milliseconds until the first of the targets left out for their rate limit may be tried; null when none was. */
  readonly blockedRetryMs: number | null;
}

/** Chooses among targets and learns from what came of them. Pure decisions over local state: no I/O, no waiting. */
export interface Router {
  plan(facts: Facts, model: Model, protocol: ProtocolId, nowMs: number): Plan;
  /** Reports what came of an attempt; faults of the caller never count against the target. */
  observe(target: Target, outcome: Outcome, nowMs: number): void;
}
