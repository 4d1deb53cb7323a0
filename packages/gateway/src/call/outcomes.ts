import { type Fault, type Loss, unreachable, type Work } from '@headgate/protocols';
import type { Target } from '../catalogue/catalogue.ts';
import type { Lane } from '../ports/ledger.ts';
import type { Observer } from '../ports/observer.ts';
import { type Outcome, rowOf } from '../route/outcomes.ts';
import type { Flight } from '../route/plan.ts';
import type { Ending } from './relay.ts';
import type { Conversation } from './request.ts';

/** One request sent to one target, and what came of it. Times in milliseconds. */
export interface AttemptRecord {
  readonly target: Target;
  readonly outcome: Outcome;
  /** When the request was sent, on the clock that never jumps. */
  readonly startedAt: number;
  readonly upstreamRequestId: string | null;
  readonly httpStatus: number | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly lane: Lane;
  readonly edits: readonly string[];
  readonly losses: readonly Loss[];
  /** Bytes that are left to send to the caller once the entry is durable; null when the attempt gave no answer. */
  readonly ending: Ending | null;
}

/**
 * How a call ended, before its entry is written: with an answer whose end is still to be sent, with a fault, or without
 * the caller. `begun`: the caller has the head of an answer.
 */
export type CallEnd =
  | { readonly kind: 'answered'; readonly ending: Ending }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly begun: boolean }
  | { readonly kind: 'caller-gone'; readonly begun: boolean };

/** Tells the router how an attempt ended, and the operator what only the operator can mend. */
export function learnFrom(
  { gateway, inbound }: Conversation,
  { target, outcome }: AttemptRecord,
  flight: Flight,
): void {
  const isTold = teaches(inbound.work, outcome);
  flight.ended(isTold ? outcome : null, gateway.clock.now());
  if (!isTold || outcome.kind !== 'refused') return;
  const { alert } = rowOf(outcome);
  if (alert === null) return;
  // Such trouble is never shown as the caller's.
  gateway.observer.alert(alert, {
    channel: target.channel.id,
    model: target.upstreamModel,
    message: outcome.refusal.message,
    credential: flight.credential?.id ?? 'none',
  });
}

/**
 * An outcome says something about the channel only where every upstream can do the work. Many have no endpoint that counts,
 * and few models embed: a caller who asks for that must not put a channel out of service for those who want answers.
 */
function teaches(work: Work, outcome: Outcome): boolean {
  switch (work) {
    case 'answer':
      return true;
    case 'count':
      return false;
    case 'embed':
      return rowOf(outcome).health.kind !== 'missing';
    default:
      return unreachable(work);
  }
}

/** Tells the operator of something thrown where nothing may be. The caller only hears that there was something. */
export function alertBug(error: unknown, traceId: string, observer: Observer): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  observer.alert('bug', { traceId, error: text });
}
