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

/** One attempt under way, as the router follows it. */
export interface Flight {
  /** How long a stream may take to begin there, by what the router knows of the target; milliseconds. */
  readonly firstContentMs: number;
  /** The head of an answer has come, whatever its status. Header names in lower case. */
  told(headers: ReadonlyMap<string, string>, nowMs: number): void;
  /** First content has come. Told again it says nothing new. */
  began(nowMs: number): void;
  /**
   * The attempt has come to its end: told once, whatever happens. Faults of the caller never count against the target, and
   * null says nothing about it at all.
   */
  ended(outcome: Outcome | null, nowMs: number): void;
}

/** Chooses among targets and learns from what came of them. Pure decisions over local state: no I/O, no waiting. */
export interface Router {
  plan(facts: Facts, model: Model, protocol: ProtocolId, nowMs: number): Plan;
  /** An attempt is sent. */
  depart(target: Target, facts: Facts, model: Model, nowMs: number): Flight;
}
