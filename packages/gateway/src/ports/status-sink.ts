import type { Target } from '../catalogue/catalogue.ts';
import type { Outcome } from '../route/outcomes.ts';
import type { CallEntry } from './ledger.ts';
import type { EndedAttempt } from './observer.ts';

/** Counts each call that has ended, on the way of the call itself. */
export interface CallTally {
  callFinished(entry: CallEntry, attempts: readonly EndedAttempt[]): void;
}

/** Who measures: never throws, never waits. */
export interface StatusSink {
  readonly tally: CallTally;
  /** A probe of ours has ended, of this public model. */
  probed(target: Target, modelId: string, outcome: Outcome): void;
}
