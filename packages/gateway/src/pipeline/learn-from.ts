import { unreachable, type Work } from '@headgate/protocols';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { Flight } from '../core/route/router.ts';
import type { AttemptRecord } from './attempt.ts';
import type { Conversation } from './conversation.ts';

/** Tells the router how an attempt ended, and the operator what only the operator can mend. */
export function learnFrom(conversation: Conversation, record: AttemptRecord, flight: Flight): void {
  const { gateway, inbound } = conversation;
  const isTold = teaches(inbound.work, record.outcome);
  flight.ended(isTold ? record.outcome : null, gateway.clock.now());
  if (isTold) warnOperator(conversation, record, flight);
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
