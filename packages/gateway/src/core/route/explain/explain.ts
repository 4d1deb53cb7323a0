import type { Choice, Left, LeftOut, ScoredInFull } from '../choice/considered.ts';
import type { ScoreParts } from '../choice/score.ts';
import type { Ask } from '../router.ts';
import type { Candidate } from '../target/candidates.ts';
import { barEndsAtMs } from '../target/credential-slot.ts';

/** A target that may be asked, as operators see it. */
export interface ExplainedCandidate {
  readonly channelId: string;
  readonly upstreamModel: string;
  readonly tier: number;
  /** Of a successful call, all told. */
  readonly expectedCostPicoUsd: number;
  /** What that is made of, in pico-dollars. */
  readonly parts: ScoreParts;
  /** Of first content, from 0 to 1. */
  readonly chance: number;
  /** Until there is something to read; milliseconds. */
  readonly waitMs: number;
  /** Of calls like this one, from 0 to 1. */
  readonly share: number;
}

export interface ExplainedExclusion {
  readonly channelId: string;
  readonly upstreamModel: string;
  readonly reason: LeftOut;
  /** When the reason ends, on the wall clock; null where no time is known. */
  readonly untilMs: number | null;
}

/** What a call would find: expected chances in the place of drawn ones, so the same state explains itself the same. */
export interface Explanation {
  readonly choice: Choice;
  /** Ids of channels in the order in which they would be asked; where a draw decides, the likeliest first. */
  readonly order: readonly string[];
  /** By tier, then by expected cost. */
  readonly candidates: readonly ExplainedCandidate[];
  readonly exclusions: readonly ExplainedExclusion[];
}

/** Tells what a call would find, without any effect. */
export interface RouteExplainer {
  explain(ask: Ask, clockMs: number): Explanation;
}

/** What the planner found: `nowMs` on its steady clock, `clockMs` on the wall's. */
interface Finding {
  readonly choice: Choice;
  readonly order: readonly string[];
  readonly scored: readonly ScoredInFull[];
  readonly left: readonly Left[];
  readonly nowMs: number;
  readonly clockMs: number;
}

export function explanationOf({ choice, order, scored, left, nowMs, clockMs }: Finding): Explanation {
  return {
    choice,
    order,
    candidates: scored.map(candidateOf),
    exclusions: left.map(({ candidate, reason }) => {
      const untilMs = endOf(candidate, reason, nowMs);
      return {
        ...namesOf(candidate),
        reason,
        untilMs: untilMs === null || untilMs <= nowMs ? null : clockMs + (untilMs - nowMs),
      };
    }),
  };
}

function candidateOf({
  candidate,
  tier,
  score,
  parts,
  chance,
  waitMs,
  share,
}: ScoredInFull): ExplainedCandidate {
  return { ...namesOf(candidate), tier, expectedCostPicoUsd: score, parts, chance, waitMs, share };
}

/** On the steady clock; in the past when it is over, null when nobody knows. */
function endOf({ state, slots }: Candidate, reason: LeftOut, nowMs: number): number | null {
  switch (reason) {
    case 'credential':
    case 'blocked':
    case 'no-headroom':
    case 'capped':
      return barEndsAtMs(slots, reason, nowMs);
    case 'model-missing':
      return state.missingUntilMs;
    case 'open':
      return state.circuit.openUntilMs;
    case 'disabled':
    case 'not-allowed':
    case 'lacks':
    case 'context':
    case 'drained':
    case 'full':
    case 'elsewhere':
    case 'tried':
    case 'due':
    case 'probing':
    case 'failing':
    case 'overdue':
      return null;
    default:
      return reason satisfies never;
  }
}

function namesOf({ target }: Candidate) {
  return { channelId: target.channel.id, upstreamModel: target.upstreamModel };
}
