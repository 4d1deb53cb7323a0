import type { Facts, ProtocolId } from '@headgate/protocols';
import type { Credential, GroupRouting, Model, Target } from '../catalogue/catalogue.ts';
import type { Pool } from './estimates.ts';
import type { Outcome } from './outcomes.ts';
import type { Candidate, Excluded, Left } from './target.ts';

/** Why the target that is asked first is that one. */
export type Choice =
  | 'score' // drawn, by shares that follow from the scores
  | 'pinned' // the same, of those that may know the answer the call goes on from
  | 'probe' // ejected, and due: this call shows whether it is back
  | 'hedge' // the best by score, beside another one that is silent
  | 'panic' // everything is out of service, and this is soonest to recover
  | 'withheld' // none: what is left is doubtful, and the budget for such attempts is spent
  | 'nothing'; // none: nothing may be asked

/** The parts of a score, in pico-dollars; the parts add up to it. */
export interface ScoreParts {
  readonly price: number;
  /** The worth of the time until there is something to read. */
  readonly waiting: number;
  /** Failures before first content: the time they take, and the cost when nothing else answers either. */
  readonly failure: number;
  /** The cost of answers that break off. */
  readonly breakage: number;
  /** Added while the target is let back in bit by bit. */
  readonly slowStart: number;
}

/** A target that may be asked, in full. */
export interface ScoredInFull {
  readonly candidate: Candidate;
  /** The operator's; the lowest comes first, whatever the score. */
  readonly tier: number;
  /** Expected cost of a successful call, in pico-dollars. */
  readonly score: number;
  /** Expected chance of first content. */
  readonly chance: number;
  /** The share of calls like this one, from 0 to 1. */
  readonly share: number;
  /** Until there is something to read; milliseconds. */
  readonly waitMs: number;
  /** The parts of the score. */
  readonly parts: ScoreParts;
}

/** The best few of those that could be asked, by the operator's tier, then by score. */
export interface Listed {
  /** Among the estimates. */
  readonly places: readonly number[];
  /** Three of each: its score, at the chance that was drawn where one was; its expected chance of first content; its share. */
  readonly numbers: readonly number[];
}

/**
 * The few things that a plan was made from, kept as they are, because every call is planned and hardly any plan is ever looked
 * at. It tells of channels, so it is the operator's alone.
 */
export interface Considered {
  readonly choice: Choice;
  readonly pool: Pool;
  /** How many could be asked. */
  readonly count: number;
  readonly listed: Listed;
  readonly due: readonly Candidate[];
  /** Besides those that the pool leaves out for every call. */
  readonly excluded: readonly Excluded[];
}

/** Everything that is not among those that may be asked. */
export function leftOutOf({
  pool,
  due,
  excluded,
}: Pick<Considered, 'pool' | 'due' | 'excluded'>): readonly Left[] {
  return [...due.map((candidate) => ({ candidate, reason: 'due' as const })), ...pool.left, ...excluded];
}

/** A call as the router sees it. The same value for all its attempts. */
export interface RouteRequest {
  readonly facts: Facts;
  readonly model: Model;
  /** The protocol of the caller's surface. */
  readonly protocol: ProtocolId;
  readonly routing: GroupRouting;
  /** The account that asks; null of a probe of ours. */
  readonly accountId: string | null;
  /** True when it must go to a target that takes the protocol as it is: nothing but an answer is translated. */
  readonly asItIs: boolean;
  /**
   * The conversation it belongs to, told apart from those of other tenants; null when nothing says. To find out costs as much as
   * to route, so it is asked for only where a price can go by it.
   */
  readonly session: () => string | null;
}

/** The call was too long for a target: only one that takes more is asked, or one that may. */
export interface TooLong {
  /** The most that such a target is known to take, in tokens; 0 when it is known of none. */
  readonly above: number;
  /** True when one may be asked of which nobody knows what it takes: once. */
  readonly unknownToo: boolean;
}

/** How far a call has come. */
export interface Progress {
  /** Ids of the channels that are not asked again. */
  readonly tried: ReadonlySet<string>;
  /** May be a fraction: a quick refusal costs half of one. */
  readonly attemptsLeft: number;
  /** Credentials of channels that may be asked again with another one: refused, or at their limit. None where left out. */
  readonly refused?: ReadonlySet<Credential>;
  /** Null or left out while no target has found the call too long. */
  readonly tooLong?: TooLong | null;
  /** Null or left out where there is nothing to wait for but what was not asked yet. */
  readonly again?: Again | null;
}

/** A call may wait: for a channel that is blocked, or to ask the only one there is once more. */
export interface Again {
  /** The channel that may be asked again where there is no other; null when nobody has been asked. */
  readonly channelId: string | null;
  /** True when the wait is over. */
  readonly isDue: boolean;
}

/** The targets of the next attempt in the order in which they are to be tried. */
export interface Route {
  /** More than one, because some of them cannot be asked for this call, which shows when their turn comes. */
  readonly targets: readonly Target[];
  /** Milliseconds until the first of the targets left out for their rate limit may be tried; null when none was. */
  readonly blockedRetryMs: number | null;
  /** Milliseconds until it is worth planning again, while there is no target; null when there is nothing to wait for. */
  readonly againMs: number | null;
  /** The grounds of the plan, for the entry of the call. It names channels: never for callers. */
  readonly considered: Considered;
}

/** One attempt under way, as the router follows it. */
export interface RoutedAttempt {
  /** The one it is to be sent with; null where the channel needs none. */
  readonly credential: Credential | null;
  /** How long a stream may take to begin there, by what the router knows of the target; milliseconds. */
  readonly firstContentMs: number;
  /** Silence of a stream after which another target may be asked beside it, where that is allowed; milliseconds. */
  readonly hedgeAfterMs: number;
  /** True where answers of the target have counted thought. */
  readonly hasReasoned: boolean;
  /** Tokens that it usually writes in so much time from the request on, thought included. */
  tokensIn(durationMs: number): number;
  /**
   * How long this call has waited where others waited in vain and nobody has been given anything since, or where it is a trial of
   * a target out of service; 0 where there is hope. For answers that say nothing until they are whole. Milliseconds.
   */
  waitedInVainMs(nowMs: number): number;
  /** The head of an answer has come, whatever its status. Header names in lower case. */
  noteHead(headers: Iterable<readonly [string, string]>, nowMs: number): void;
  /** First content has come. Told again it says nothing new. */
  noteFirstContent(nowMs: number): void;
  /**
   * The attempt has come to its end: told once, whatever happens. Faults of the caller never count against the target, and
   * null says nothing about it at all.
   */
  noteEnd(outcome: Outcome | null, nowMs: number): void;
}
