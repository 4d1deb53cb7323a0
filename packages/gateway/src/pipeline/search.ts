import { type Fault, fail } from '@headgate/protocols';
import type { Channel, Credential, Target } from '../core/catalogue.ts';
import type { PlanMade } from '../core/route/explain/route-record.ts';
import {
  isTooLong,
  mayAskAgain,
  mayTryOtherCredential,
  retryElsewhere,
} from '../core/route/outcome/fallback.ts';
import type { Again, Flight, Plan } from '../core/route/router.ts';
import { alertBug } from './alert-bug.ts';
import { Attempt, type AttemptPlace, type AttemptRecord } from './attempt.ts';
import { type Conversation, isOver, isStopping } from './conversation.ts';
import { chooseLane, type Lane } from './lane.ts';
import { learnFrom } from './learn-from.ts';
import { Race } from './race.ts';
import { fetchMedia, lacksMedia } from './remote-media.ts';

/** A refusal that takes longer is an attempt like any other, and so is a connection that cannot be had. */
const quickRefusalMs = 1000;
/**
 * A call waits no longer than this for a channel that may be asked, all its waits together: a client that is told when to
 * come back does better than one that is held.
 */
const waitMsMax = 5000;

/** The search for a target that answers: one attempt after the other, each planned when the one before it has failed. */
export class Search {
  /** In the order in which they ended: the last one decides the call. */
  readonly attempts: AttemptRecord[] = [];
  /** Attempts sent so far. */
  begun = 0;
  readonly plans: PlanMade[];
  /** The latest one, save that of a second attempt beside another. */
  plan: Plan;
  /** Why the first of the targets that could not be asked could not; null when all could. */
  unspeakable: Fault | null = null;
  /** While the call waited. */
  hasCallerLeft = false;
  hasBug = false;
  readonly #conversation: Conversation;
  readonly #tried = new Set<string>();
  readonly #refused = new Set<Credential>();
  /** The credentials that attempts were sent with; the channels of those that were sent without. */
  readonly #senders = new Set<Credential | Channel>();
  #attemptsLeft: number;
  #conflictsLeft = 1;
  #contextAbove: number | null = null;
  #waitMsLeft = waitMsMax;

  constructor(conversation: Conversation, plan: Plan) {
    this.#conversation = conversation;
    this.plan = plan;
    this.plans = [{ plan, attemptsBefore: 0 }];
    this.#attemptsLeft = conversation.gateway.limits.attemptsMax;
  }

  /** Ends when one target has answered or none may be tried any more. Never rejects: a bug is noted. */
  async run(): Promise<void> {
    try {
      // Nothing is awaited in vain: the first attempt is sent at once.
      while (this.plan.targets.length > 0 || (await this.#waitForTargets())) {
        const wasAsked = await this.#askOne();
        const last = this.attempts.at(-1);
        // A plan names the best ones, and none of them may be the one that can be asked.
        if (wasAsked && last !== undefined && !this.#mayGoOn(last)) return;
        this.plan = this.#planNext(last, false);
      }
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** Asks the first of the planned targets that can be asked for this call; whether there was one. */
  async #askOne(): Promise<boolean> {
    const { targets } = this.plan;
    for (const [place, target] of targets.entries()) {
      const fetching = fetchMedia(this.#conversation, target);
      const unfetched = fetching === null ? null : await fetching;
      const lane = unfetched === null ? chooseLane(this.#conversation, target) : fail(unfetched);
      // While something was fetched, others may have taken its place: it may be waited for.
      if (lane.ok && !this.#conversation.gateway.router.hasRoom(target)) continue;
      this.#tried.add(target.channel.id);
      if (lane.ok) {
        await this.#ask(this.#placeOf(target, lane.value, targets.length - place - 1));
        return true;
      }
      this.unspeakable ??= lane.error;
    }
    return false;
  }

  /** `others`: targets that may still be asked if this one fails. */
  #placeOf(target: Target, lane: Lane, others: number): AttemptPlace {
    const { gateway, ask, request, deadlineAt } = this.#conversation;
    const now = gateway.clock.monotonic();
    // An attempt may wait for its even share of the time left, so that a silent channel leaves time for those after it. What
    // may be done once only is not waited for by others.
    const sharedBy = request.repeatable === false ? 1 : Math.min(Math.ceil(this.#attemptsLeft), others + 1);
    return {
      target,
      lane,
      tally: this,
      beginsBy: now + (deadlineAt - now) / sharedBy,
      isLastHope: others === 0,
      flight: gateway.router.depart(target, ask, gateway.clock.now(), this.#refused),
    };
  }

  async #ask(place: AttemptPlace): Promise<void> {
    if (!this.#mayHedge()) return this.#follow(place, null);
    const { flight } = place;
    const ends: Promise<void>[] = [];
    const race = new Race(this.#conversation, flight.hedgeAfterMs, () => {
      const beside = this.#placeBeside();
      if (beside !== null) ends.push(this.#follow(beside, race));
    });
    ends.push(this.#follow(place, race));
    // The second one joins, if it does, before the first has ended.
    for (const end of ends) await end;
  }

  /** Sends an attempt and learns from its end. Rejects never. */
  async #follow(place: AttemptPlace, race: Race | null): Promise<void> {
    const attempt = new Attempt(this.#conversation, place, race);
    this.begun++;
    race?.enter(attempt);
    attempt.start();
    race?.listen();
    const record = await attempt.done;
    this.#attemptsLeft -= this.#unitsOf(record, place.flight);
    this.attempts.push(record);
    this.#noteLength(record);
    try {
      learnFrom(this.#conversation, record, place.flight);
      this.#noteCredential(record, place.flight);
    } catch (error) {
      this.#noteBug(error);
    }
  }

  #noteLength({ target: { contextWindow }, outcome }: AttemptRecord): void {
    if (contextWindow === null || !isTooLong(outcome)) return;
    this.#contextAbove = Math.max(this.#contextAbove ?? 0, contextWindow);
  }

  #noteCredential({ target, outcome }: AttemptRecord, { credential }: Flight): void {
    if (credential === null || !mayTryOtherCredential(outcome, target)) return;
    this.#refused.add(credential);
    this.#tried.delete(target.channel.id);
  }

  /**
   * What an attempt takes of those a call has. What is refused at once, or cannot be reached, costs the caller next to
   * nothing: on another channel, but not on the same again.
   */
  #unitsOf({ target, outcome, durationMs }: AttemptRecord, { credential }: Flight): number {
    const sender = credential ?? target.channel;
    const isRepeat = this.#senders.has(sender);
    this.#senders.add(sender);
    const isRefused = outcome.kind === 'refused' || outcome.kind === 'unreachable';
    return isRefused && durationMs < quickRefusalMs && !isRepeat ? 0.5 : 1;
  }

  #mayGoOn({ target, outcome }: AttemptRecord): boolean {
    if (this.hasBug || this.#attemptsLeft <= 0 || isOver(this.#conversation)) return false;
    // Only a target that declares what it takes is known to take less than another.
    if (isTooLong(outcome)) return target.contextWindow !== null;
    const retry = retryElsewhere(outcome, this.#conversation.request.repeatable);
    return retry === 'once' ? this.#conflictsLeft-- > 0 : retry === 'yes';
  }

  /** `isDue`: the call has waited for what is planned now. `last` is undefined when nobody has been asked yet. */
  #planNext(last: AttemptRecord | undefined, isDue: boolean): Plan {
    const { gateway, ask } = this.#conversation;
    const channelId = last === undefined ? null : this.#onlyAsked(last);
    const again: Again | null = last === undefined || channelId !== null ? { channelId, isDue } : null;
    const progress = { ...this.#progress(this.#attemptsLeft), again };
    const plan = gateway.router.plan(ask, gateway.clock.now(), progress);
    this.plans.push({ plan, attemptsBefore: this.attempts.length });
    return plan;
  }

  #progress(attemptsLeft: number) {
    return {
      tried: this.#tried,
      refused: this.#refused,
      contextAbove: this.#contextAbove,
      attemptsLeft,
    };
  }

  /** The channel that may be asked again where there is no other; null when several were asked. */
  #onlyAsked({ target: { channel }, outcome }: AttemptRecord): string | null {
    if (!mayAskAgain(outcome)) return null;
    return this.attempts.every(({ target }) => target.channel.id === channel.id) ? channel.id : null;
  }

  /** Waits while nothing may be asked yet, and that is worth it. Whether something may be now. */
  async #waitForTargets(): Promise<boolean> {
    const { gateway, reply } = this.#conversation;
    while (this.plan.targets.length === 0) {
      const { againMs } = this.plan;
      if (againMs === null || !this.#mayWait(againMs)) return false;
      this.#waitMsLeft -= againMs;
      this.hasCallerLeft = (await gateway.waitingRoom.wait(reply, againMs)) === 'gone';
      if (this.hasCallerLeft || isOver(this.#conversation)) return false;
      this.plan = this.#planNext(this.attempts.at(-1), true);
    }
    return true;
  }

  /** A count is not waited for: it is made here where no upstream makes it. */
  #mayWait(waitMs: number): boolean {
    const { gateway, inbound, deadlineAt } = this.#conversation;
    if (inbound.work === 'count' || isStopping(this.#conversation) || gateway.waitingRoom.isFull)
      return false;
    return waitMs <= this.#waitMsLeft && gateway.clock.monotonic() + waitMs < deadlineAt;
  }

  /** Only a stream shows that it is late, and only what may be done twice is asked of two. */
  #mayHedge(): boolean {
    const { ask, inbound, request } = this.#conversation;
    if (!ask.routing.hedging || !request.facts.stream || this.#attemptsLeft <= 1) return false;
    return inbound.work === 'answer' && request.repeatable !== false;
  }

  /** Where a second attempt goes while the first is silent; null where there is no sense in one. */
  #placeBeside(): AttemptPlace | null {
    const { gateway, ask } = this.#conversation;
    if (isStopping(this.#conversation) || isOver(this.#conversation)) return null;
    const progress = this.#progress(this.#attemptsLeft - 1);
    try {
      const plan = gateway.router.hedge(ask, gateway.clock.now(), progress);
      if (plan === null) return null;
      for (const target of plan.targets) {
        // What would have to be fetched first comes too late.
        const lane = lacksMedia(this.#conversation, target) ? null : chooseLane(this.#conversation, target);
        if (!lane?.ok || !gateway.router.hasRoom(target)) continue;
        this.#tried.add(target.channel.id);
        this.plans.push({ plan, attemptsBefore: this.begun });
        return this.#placeOf(target, lane.value, 1);
      }
    } catch (error) {
      // The first attempt is none the worse for it.
      alertBug(error, this.#conversation.inbound.traceId, gateway.observer);
    }
    return null;
  }

  #noteBug(error: unknown): void {
    const { gateway, inbound } = this.#conversation;
    alertBug(error, inbound.traceId, gateway.observer);
    this.hasBug = true;
  }
}
