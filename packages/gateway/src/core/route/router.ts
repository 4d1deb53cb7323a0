import type { Facts, ProtocolId } from '@headgate/protocols';
import type { Credential, GroupRouting, Model, Target } from '../catalogue.ts';
import type { Considered } from './choice/considered.ts';
import type { Outcome } from './outcome/outcome.ts';

/** What a call asks of the router. The same value for all its attempts. */
export interface Ask {
  readonly facts: Facts;
  readonly model: Model;
  /** Of the caller's surface. */
  readonly protocol: ProtocolId;
  readonly routing: GroupRouting;
  /** The account that asks; null of a probe of ours. */
  readonly accountId: string | null;
  /** The conversation it belongs to, told apart from those of other tenants; null when nothing says. */
  readonly sessionKey: string | null;
}

/** How far a call has come. */
export interface Progress {
  /** Ids of the channels that are not asked again. */
  readonly tried: ReadonlySet<string>;
  /** May be a fraction: a quick refusal costs half of one. */
  readonly attemptsLeft: number;
  /** Credentials of channels that may be asked again with another one: refused, or at their limit. None where left out. */
  readonly refused?: ReadonlySet<Credential>;
  /** Of targets that found the call too long, what they declare to take: only one that declares more is asked. Tokens. */
  readonly contextAbove?: number | null;
  /** Null or left out where there is nothing to wait for but what was not asked yet. */
  readonly again?: Again | null;
}

/** A call may wait: for a channel that is blocked, or to ask the only one there is once more. */
export interface Again {
  /** The channel that may be asked again where there is no other; null when nobody has been asked. */
  readonly channelId: string | null;
  /** Whether the wait is over. */
  readonly isDue: boolean;
}

/** The targets of the next attempt in the order in which they are to be tried. */
export interface Plan {
  /** More than one, because some of them cannot be asked for this call, which shows when their turn comes. */
  readonly targets: readonly Target[];
  /** Milliseconds until the first of the targets left out for their rate limit may be tried; null when none was. */
  readonly blockedRetryMs: number | null;
  /** Where there is no target now: when to plan again, in milliseconds; null when there is nothing to wait for. */
  readonly againMs: number | null;
  /** What it was made from, for the entry of the call. It names channels: never for callers. */
  readonly considered: Considered;
}

/** One attempt under way, as the router follows it. */
export interface Flight {
  /** The one it is to be sent with; null where the channel needs none. */
  readonly credential: Credential | null;
  /** How long a stream may take to begin there, by what the router knows of the target; milliseconds. */
  readonly firstContentMs: number;
  /** Silence of a stream after which another target may be asked beside it, where that is allowed; milliseconds. */
  readonly hedgeAfterMs: number;
  /**
   * How long this call has waited where others waited in vain and nobody has been given anything since, or where it is a trial of
   * a target out of service; 0 where there is hope. For answers that say nothing until they are whole. Milliseconds.
   */
  waitedInVainMs(nowMs: number): number;
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
  /** Whether the call names what an upstream keeps for another account: to this one it does not exist. */
  isForeign(ask: Ask): boolean;
  /** Without `progress` it is the first of the call; asked again for every further attempt, much may have been learned since. */
  plan(ask: Ask, nowMs: number, progress?: Progress): Plan;
  /** Where a second attempt is to go while the first one is silent; null where that would be one too many. */
  hedge(ask: Ask, nowMs: number, progress: Progress): Plan | null;
  /** An attempt is sent; with none of the credentials that were refused to the call, where there is another one. */
  depart(target: Target, ask: Ask, nowMs: number, refused?: ReadonlySet<Credential>): Flight;
  /** Whether one more attempt may be under way on the target's channel. */
  hasRoom(target: Target): boolean;
}
