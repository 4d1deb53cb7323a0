import { type UpstreamRefusal, unreachable } from '@headgate/protocols';
import type { Outcome } from './outcome.ts';

/**
 * What an outcome says of its target. Faults of the caller, hang-ups, and our own faults say nothing; a rate limit is
 * about capacity; trouble with a credential or a missing model is the operator's, and no outage.
 */
export type Verdict =
  | { readonly kind: 'success' | 'broke' | 'nothing' | 'credential' | 'model-missing' }
  | { readonly kind: 'failure'; readonly weight: number; readonly isTimeOut: boolean }
  | { readonly kind: 'rate-limited'; readonly waitMs: number | null };

const nothing: Verdict = { kind: 'nothing' };
const broke: Verdict = { kind: 'broke' };
const failure: Verdict = { kind: 'failure', weight: 1, isTimeOut: false };
const unreached: Verdict = { kind: 'failure', weight: 2, isTimeOut: false };
const timeOut: Verdict = { kind: 'failure', weight: 2, isTimeOut: true };

/** `hadContent`: the answer had begun, whether or not a byte of it had been handed to the caller. */
export function verdictOn(outcome: Outcome, hadContent: boolean): Verdict {
  switch (outcome.kind) {
    case 'answered':
      return { kind: 'success' };
    case 'caller-gone':
    case 'shut-down':
    case 'bug':
    case 'outrun':
      return nothing;
    case 'timed-out':
      if (outcome.phase === 'deadline') return nothing;
      return hadContent || outcome.committed ? broke : timeOut;
    case 'cut':
      return hadContent || outcome.committed ? broke : failure;
    case 'unreachable':
      return unreached;
    case 'refused':
      return verdictOnRefusal(outcome.refusal.kind, outcome.retryAfterMs);
    default:
      return unreachable(outcome);
  }
}

function verdictOnRefusal(kind: UpstreamRefusal['kind'], waitMs: number | null): Verdict {
  switch (kind) {
    case 'rate-limited':
      return { kind: 'rate-limited', waitMs };
    case 'credential':
    case 'model-missing':
      return { kind };
    case 'overloaded':
    case 'server-error':
    case 'garbled':
    case 'blank':
    case 'conflict':
      return failure;
    case 'invalid-request':
    case 'context-length':
    case 'content-policy':
    case 'answer-missing':
      return nothing;
    default:
      return unreachable(kind);
  }
}
