import { type Fault, fault } from '@headgate/protocols';
import type { PlanMade } from '../core/route/explain/route-record.ts';
import { faultOf, isTooLong } from '../core/route/outcome/fallback.ts';
import type { Ask, Plan } from '../core/route/router.ts';
import { privateNamesOf } from '../core/route/target/private-names.ts';
import type { Ending } from './answer.ts';
import type { AttemptRecord } from './attempt.ts';
import type { Conversation } from './conversation.ts';
import { Search } from './search.ts';

/**
 * How a call ended, before its entry is written: with an answer whose end is still to be sent, with a fault, or without
 * the caller. `begun`: the caller has the head of an answer.
 */
export type Finish =
  | { readonly kind: 'answered'; readonly ending: Ending }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly begun: boolean }
  | { readonly kind: 'caller-gone'; readonly begun: boolean };

/** All that was tried for one call, in the order in which it ended, and how the call did. */
export interface Delivery {
  readonly attempts: readonly AttemptRecord[];
  /** How it was planned; empty when it was refused before. */
  readonly plans: readonly PlanMade[];
  readonly finish: Finish;
}

/** Tries the planned targets until one answers or none may be tried any more. Never rejects: a failure is a Finish. */
export async function deliver(conversation: Conversation, plan: Plan): Promise<Delivery> {
  const search = new Search(conversation, plan);
  await search.run();
  return { attempts: search.attempts, plans: search.plans, finish: finishOf(conversation, search) };
}

function finishOf({ reply, ask }: Conversation, search: Search): Finish {
  const { begun } = reply;
  const last = search.attempts.at(-1);
  if (search.hasBug) return { kind: 'failed', fault: fault('internal'), begun };
  if (last?.ending) return { kind: 'answered', ending: last.ending };
  if (hasCallerLeft(reply, search)) return { kind: 'caller-gone', begun };
  return {
    kind: 'failed',
    fault: last === undefined ? unaskedFault(search) : askedFault(search, last, ask),
    begun,
  };
}

function hasCallerLeft(reply: Conversation['reply'], { attempts, hasCallerLeft: hasLeft }: Search): boolean {
  const last = attempts.at(-1);
  return hasLeft || (last === undefined ? reply.gone : last.outcome.kind === 'caller-gone');
}

/**
 * What was let go of while another attempt decided the call says nothing about how it failed. That it is too long is for the
 * caller to know, whatever became of it where more fits.
 */
function askedFault({ attempts, plan }: Search, last: AttemptRecord, { model }: Ask): Fault {
  const tooLong = attempts.find(({ outcome }) => isTooLong(outcome));
  const told = tooLong ?? last;
  const outcomes = attempts.map(({ outcome }) => outcome).filter(({ kind }) => kind !== 'outrun');
  const decisive = tooLong === undefined ? outcomes : [tooLong.outcome];
  return faultOf(decisive, plan.blockedRetryMs, privateNamesOf(told.target, model));
}

/** Where nothing could be asked: one of those that have to wait may be able to do what the others cannot. */
function unaskedFault({ plan: { blockedRetryMs }, unspeakable }: Search): Fault {
  if (blockedRetryMs !== null) return fault('upstream_rate_limited', { retryAfterMs: blockedRetryMs });
  return unspeakable ?? fault('no_available_channel');
}
