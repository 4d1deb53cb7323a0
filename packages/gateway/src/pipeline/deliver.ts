import { type Fault, fault } from '@headgate/protocols';
import { faultOf, retryElsewhere } from '../core/route/fallback.ts';
import type { Outcome } from '../core/route/outcome.ts';
import type { Plan } from '../core/route/router.ts';
import type { Ending } from './answer.ts';
import { type AttemptRecord, attempt } from './attempt.ts';
import { type Conversation, isOver } from './conversation.ts';

/**
 * How a call ended, before its entry is written: with an answer whose end is still to be sent, with a fault (`begun`: the
 * caller already has the beginning of an answer), or without the caller.
 */
export type Finish =
  | { readonly kind: 'answered'; readonly ending: Ending }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly begun: boolean }
  | { readonly kind: 'caller-gone' };

/** All that was tried for one call, in order, and how it ended. */
export interface Delivery {
  readonly attempts: readonly AttemptRecord[];
  readonly finish: Finish;
}

/** Tries the planned targets until one answers or none may be tried any more. Never throws: a failure is a Finish. */
export async function deliver(conversation: Conversation, plan: Plan): Promise<Delivery> {
  const { gateway } = conversation;
  const attempts: AttemptRecord[] = [];
  let repeatsLeft = 1;
  for (const target of plan.targets) {
    const record = await attempt(conversation, target, attempts.length + 1);
    attempts.push(record);
    gateway.router.observe(target, record.outcome, gateway.clock.now());
    warnOperator(conversation, record);
    const retry = retryElsewhere(record.outcome);
    if (retry === 'no' || isOver(conversation)) break;
    if (retry === 'once' && repeatsLeft-- === 0) break;
  }
  return { attempts, finish: finishOf(attempts, plan.blockedRetryMs) };
}

function finishOf(attempts: readonly AttemptRecord[], blockedRetryMs: number | null): Finish {
  const last = attempts.at(-1);
  if (last === undefined) return { kind: 'failed', fault: fault('no_available_channel'), begun: false };
  if (last.ending !== null) return { kind: 'answered', ending: last.ending };
  if (last.outcome.kind === 'caller-gone') return { kind: 'caller-gone' };
  return {
    kind: 'failed',
    fault: faultOf(
      attempts.map(({ outcome }) => outcome),
      blockedRetryMs,
    ),
    begun: isCommitted(last.outcome),
  };
}

function isCommitted(outcome: Outcome): boolean {
  return 'committed' in outcome && outcome.committed;
}

/** Trouble that only the operator can mend is told, and never shown as the caller's. */
function warnOperator({ gateway }: Conversation, { target, outcome }: AttemptRecord): void {
  if (outcome.kind !== 'refused') return;
  const detail = {
    channel: target.channel.id,
    model: target.upstreamModel,
    message: outcome.refusal.message,
  };
  if (outcome.refusal.kind === 'credential') gateway.observer.alert('credential-refused', detail);
  if (outcome.refusal.kind === 'model-missing') gateway.observer.alert('model-missing-upstream', detail);
}
