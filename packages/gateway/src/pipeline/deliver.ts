import { type Fault, fail, fault, unreachable, type Work } from '@headgate/protocols';
import type { Credential } from '../core/catalogue.ts';
import { faultOf, mayTryOtherCredential, retryElsewhere } from '../core/route/fallback.ts';
import type { Outcome } from '../core/route/outcome.ts';
import { privateNamesOf } from '../core/route/private-names.ts';
import type { PlanMade } from '../core/route/route-record.ts';
import type { Flight, Plan } from '../core/route/router.ts';
import { alertBug } from './alert-bug.ts';
import type { Ending } from './answer.ts';
import { type AttemptRecord, attempt } from './attempt.ts';
import { type Conversation, isOver } from './conversation.ts';
import { chooseLane } from './lane.ts';
import { fetchMedia } from './remote-media.ts';

/** A refusal that takes longer is an attempt like any other. */
const quickRefusalMs = 1000;

/**
 * How a call ended, before its entry is written: with an answer whose end is still to be sent, with a fault, or without
 * the caller. `begun`: the caller has the head of an answer.
 */
export type Finish =
  | { readonly kind: 'answered'; readonly ending: Ending }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly begun: boolean }
  | { readonly kind: 'caller-gone'; readonly begun: boolean };

/** All that was tried for one call, in order, and how it ended. */
export interface Delivery {
  readonly attempts: readonly AttemptRecord[];
  /** How it was planned; empty when it was refused before. */
  readonly plans: readonly PlanMade[];
  readonly finish: Finish;
}

/** Tries the planned targets until one answers or none may be tried any more. Never rejects: a failure is a Finish. */
export async function deliver(conversation: Conversation, plan: Plan): Promise<Delivery> {
  const { gateway, inbound } = conversation;
  const attempts: AttemptRecord[] = [];
  const plans: PlanMade[] = [{ plan, attemptsBefore: 0 }];
  try {
    const unspeakable = await tryTargets(conversation, plan, attempts, plans);
    return { attempts, plans, finish: finishOf(conversation, plan, attempts, unspeakable) };
  } catch (error) {
    alertBug(error, inbound.traceId, gateway.observer);
    return {
      attempts,
      plans,
      finish: { kind: 'failed', fault: fault('internal'), begun: conversation.reply.begun },
    };
  }
}

/** Why the first of the targets that could not be asked could not; null when all could. */
async function tryTargets(
  conversation: Conversation,
  plan: Plan,
  attempts: AttemptRecord[],
  plans: PlanMade[],
): Promise<Fault | null> {
  const { gateway, ask, request } = conversation;
  const tried = new Set<string>();
  const refused = new Set<Credential>();
  let attemptsLeft = gateway.limits.attemptsMax;
  let repeatsLeft = 1;
  let unspeakable: Fault | null = null;
  let untried = [...plan.targets];
  const planAgain = (): void => {
    const next = gateway.router.plan(ask, gateway.clock.now(), { tried, refused, attemptsLeft });
    plans.push({ plan: next, attemptsBefore: attempts.length });
    untried = [...next.targets];
  };
  for (let target = untried.shift(); target !== undefined; target = untried.shift()) {
    tried.add(target.channel.id);
    const fetching = fetchMedia(conversation, target);
    // Not awaited in vain: an attempt that needs nothing fetched begins at once.
    const unfetched = fetching === null ? null : await fetching;
    const lane = unfetched === null ? chooseLane(conversation, target) : fail(unfetched);
    if (!lane.ok) {
      unspeakable ??= lane.error;
      // A plan names the best ones, and none of them may be the one that can be asked.
      if (untried.length === 0) planAgain();
      continue;
    }
    // While something was fetched, others may have taken its place.
    if (!gateway.router.hasRoom(target)) {
      if (untried.length === 0) planAgain();
      continue;
    }
    // What may be done once only is not waited for by others.
    const sharedBy = request.repeatable === false ? 1 : Math.min(Math.ceil(attemptsLeft), untried.length + 1);
    const beginsBy = shareEndsAt(conversation, sharedBy);
    const flight = gateway.router.depart(target, ask, gateway.clock.now(), refused);
    const isLastHope = untried.length === 0;
    const place = { target, lane: lane.value, n: attempts.length + 1, beginsBy, isLastHope, flight };
    const record = await attempt(conversation, place);
    attempts.push(record);
    learnFrom(conversation, record, flight);
    if (flight.credential !== null && mayTryOtherCredential(record.outcome, target)) {
      refused.add(flight.credential);
      tried.delete(target.channel.id);
    }
    attemptsLeft -= unitsOf(record);
    const retry = retryElsewhere(record.outcome, request.repeatable);
    if (retry === 'no' || attemptsLeft <= 0 || isOver(conversation)) break;
    if (retry === 'once' && repeatsLeft-- === 0) break;
    planAgain();
  }
  return unspeakable;
}

/** What an attempt takes of those a call has. What is refused at once, or cannot be reached, costs the caller next to nothing. */
function unitsOf({ outcome, durationMs }: AttemptRecord): number {
  const isRefused = outcome.kind === 'refused' || outcome.kind === 'unreachable';
  return isRefused && durationMs < quickRefusalMs ? 0.5 : 1;
}

/**
 * Whether an outcome says something about the channel. Many upstreams have no endpoint that counts, and few models embed:
 * a caller who asks for that must not put a channel out of service for those who want answers.
 */
function teaches(work: Work, outcome: Outcome): boolean {
  switch (work) {
    case 'answer':
      return true;
    case 'count':
      return false;
    case 'embed':
      return outcome.kind !== 'refused' || outcome.refusal.kind !== 'model-missing';
    default:
      return unreachable(work);
  }
}

function learnFrom(conversation: Conversation, record: AttemptRecord, flight: Flight): void {
  const { gateway, inbound } = conversation;
  const isTold = teaches(inbound.work, record.outcome);
  flight.ended(isTold ? record.outcome : null, gateway.clock.now());
  if (isTold) warnOperator(conversation, record, flight);
}

/** An attempt may wait for its even share of the time left, so that a silent channel leaves time for those after it. */
function shareEndsAt({ gateway, deadlineAt }: Conversation, sharedBy: number): number {
  const now = gateway.clock.monotonic();
  return now + (deadlineAt - now) / sharedBy;
}

function finishOf(
  { reply, ask }: Conversation,
  plan: Plan,
  attempts: readonly AttemptRecord[],
  unspeakable: Fault | null,
): Finish {
  const { begun } = reply;
  const last = attempts.at(-1);
  if (last === undefined) {
    return reply.gone
      ? { kind: 'caller-gone', begun }
      : { kind: 'failed', fault: unaskedFault(plan, unspeakable), begun };
  }
  if (last.ending !== null) return { kind: 'answered', ending: last.ending };
  if (last.outcome.kind === 'caller-gone') return { kind: 'caller-gone', begun };
  return {
    kind: 'failed',
    fault: faultOf(
      attempts.map(({ outcome }) => outcome),
      plan.blockedRetryMs,
      privateNamesOf(last.target, ask.model),
    ),
    begun,
  };
}

/** Where nothing could be asked: one of those that have to wait may be able to do what the others cannot. */
function unaskedFault({ blockedRetryMs }: Plan, unspeakable: Fault | null): Fault {
  if (blockedRetryMs !== null) return fault('upstream_rate_limited', { retryAfterMs: blockedRetryMs });
  return unspeakable ?? fault('no_available_channel');
}

/** Trouble that only the operator can mend is told, and never shown as the caller's. */
function warnOperator(
  { gateway }: Conversation,
  { target, outcome }: AttemptRecord,
  { credential }: Flight,
): void {
  if (outcome.kind !== 'refused') return;
  const detail = {
    channel: target.channel.id,
    model: target.upstreamModel,
    message: outcome.refusal.message,
  };
  if (outcome.refusal.kind === 'credential')
    gateway.observer.alert('credential-refused', { ...detail, credential: credential?.id ?? 'none' });
  if (outcome.refusal.kind === 'model-missing') gateway.observer.alert('model-missing-upstream', detail);
}
