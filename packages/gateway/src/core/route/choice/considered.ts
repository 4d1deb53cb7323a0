import type { Candidate } from '../target/candidates.ts';
import type { ScoreParts } from './score.ts';

/** Why a target is not asked; the first reason that holds. */
export type Exclusion =
  | 'disabled' // or it speaks nothing that the call could be put into
  | 'not-allowed' // to calls of this group
  | 'lacks' // what the call needs, as the operator has said
  | 'context' // the call is clearly too long for it
  | 'drained' // by the operator
  | 'elsewhere' // the earlier answer this call goes on from was given on another channel
  | 'tried' // by this call, already
  | 'credential' // refused by the upstream, until the operator mends it or its time is up
  | 'model-missing' // the upstream does not know the model
  | 'full' // as many attempts are under way as the operator allows its channel
  | 'blocked' // rate limited until a time the upstream named
  | 'no-headroom' // less is left of its rate limit than the call needs
  | 'capped' // as many calls are sent as it takes, by what was learned
  | 'open' // ejected for its failures
  | 'probing' // ejected, and one call is out to see whether it is back
  | 'failing' // its last call has failed, and so have the last ones everywhere
  | 'overdue'; // calls are out that it should have answered by now

/** The same, with those that are ejected and due: only a probe is sent there. */
export type LeftOut = Exclusion | 'due';

/** Why the target that is asked first is that one. */
export type Choice =
  | 'score' // drawn, by shares that follow from the scores
  | 'pinned' // the same, of those that may know the answer the call goes on from
  | 'probe' // ejected, and due: this call shows whether it is back
  | 'exploration' // not asked for a while, and not too dear to be asked once
  | 'hedge' // the best by score, beside another one that is silent
  | 'panic' // everything is out of service, and this is soonest to recover
  | 'withheld' // none: what is left is doubtful, and the budget for such attempts is spent
  | 'nothing'; // none: nothing may be asked

/** A target that may be asked. */
export interface Scored {
  readonly candidate: Candidate;
  /** The operator's; the lowest comes first, whatever the score. */
  readonly tier: number;
  /** Expected cost of a successful call, in pico-dollars; at the chance that was drawn, where one was. */
  readonly score: number;
  /** Expected chance of first content. */
  readonly chance: number;
  /** Of calls like this one, from 0 to 1. */
  readonly share: number;
}

/** A target that may be asked, in full. */
export interface ScoredInFull extends Scored {
  /** Until there is something to read; milliseconds. */
  readonly waitMs: number;
  /** Of the score. */
  readonly parts: ScoreParts;
}

/** The scores of all that may be asked. */
export interface Scores {
  readonly count: number;
  /** So many at most, by tier, then by score. */
  ranked(count: number): readonly Scored[];
}

export interface Excluded {
  readonly candidate: Candidate;
  readonly reason: Exclusion;
}

/**
 * What a plan was made from: what the planner had in its hands, kept as it is, because every call is planned and hardly any
 * plan is ever looked at. It tells of channels, so it is the operator's alone.
 */
export interface Considered {
  readonly choice: Choice;
  /** Null where nothing could be asked. */
  readonly scores: Scores | null;
  readonly due: readonly Candidate[];
  readonly excluded: readonly Excluded[];
}

export interface Left {
  readonly candidate: Candidate;
  readonly reason: LeftOut;
}

/** Everything that is not among those that may be asked. */
export function leftOutOf({ due, excluded }: Pick<Considered, 'due' | 'excluded'>): readonly Left[] {
  return [...due.map((candidate) => ({ candidate, reason: 'due' as const })), ...excluded];
}
