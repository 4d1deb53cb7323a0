import type { Facts } from '@headgate/protocols';
import type { Model, Target } from '../catalogue.ts';
import type { Outcome } from './outcome.ts';

/** The targets of one call in the order in which they are tried. */
export interface Plan {
  readonly targets: readonly Target[];
  /** When nothing may be tried: milliseconds until something may, if known. */
  readonly retryAfterMs: number | null;
}

/** Chooses targets and learns from what came of them. Pure decisions over local state: no I/O, no waiting. */
export interface Router {
  plan(facts: Facts, model: Model, nowMs: number): Plan;
  /** Reports what came of an attempt; faults of the caller never count against the target. */
  observe(target: Target, outcome: Outcome, nowMs: number): void;
}
