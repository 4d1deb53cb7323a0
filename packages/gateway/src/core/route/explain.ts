import type { Candidate } from './candidates.ts';

/** Why a target is not asked; the first reason that holds. */
export type Exclusion =
  | 'disabled' // or it speaks nothing that the call could be put into
  | 'not-allowed' // to calls of this group
  | 'elsewhere' // the earlier answer this call goes on from was given on another channel
  | 'tried' // by this call, already
  | 'credential' // refused by the upstream, until the operator mends it or its time is up
  | 'model-missing' // the upstream does not know the model
  | 'blocked' // rate limited until a time the upstream named
  | 'no-headroom' // less is left of its rate limit than the call needs
  | 'capped' // as many calls are sent as it takes, by what was learned
  | 'open' // ejected for its failures
  | 'probing' // ejected, and one call is out to see whether it is back
  | 'overdue'; // calls are out that it should have answered by now

/** A target that may be asked. */
export interface Scored {
  readonly candidate: Candidate;
  /** The operator's; the lowest comes first, whatever the score. */
  readonly tier: number;
  /** Expected cost of a successful call, in pico-dollars. */
  readonly score: number;
  /** Expected chance of first content. */
  readonly chance: number;
}

export interface Excluded {
  readonly candidate: Candidate;
  readonly reason: Exclusion;
}

/** One line of the explanation of a plan, as operators see it; never shown to callers. */
export interface ExplainedTarget {
  readonly channelId: string;
  readonly upstreamModel: string;
  /** Null of a target that is left out. */
  readonly score: {
    readonly expectedCostPicoUsd: number;
    readonly chance: number;
    readonly share: number;
  } | null;
  readonly exclusion: Exclusion | null;
}

/** `weights` are those of the draw, in the order of `open`; targets of later tiers weigh nothing. */
export function explainPlan(
  open: readonly Scored[],
  weights: readonly number[],
  excluded: readonly Excluded[],
): readonly ExplainedTarget[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const scored = open.map(({ candidate, score, chance }, place) => ({
    ...namesOf(candidate),
    score: { expectedCostPicoUsd: score, chance, share: (weights[place] ?? 0) / sum },
    exclusion: null,
  }));
  const left = excluded.map(({ candidate, reason }) => ({
    ...namesOf(candidate),
    score: null,
    exclusion: reason,
  }));
  return [...scored, ...left];
}

function namesOf({ target }: Candidate) {
  return { channelId: target.channel.id, upstreamModel: target.upstreamModel };
}
