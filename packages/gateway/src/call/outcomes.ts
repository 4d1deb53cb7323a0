import { type Fault, type Loss, type Reading, unreachable, type Work } from '@headgate/protocols';
import type { Target } from '../catalogue/catalogue.ts';
import type { Metered } from '../money/meter.ts';
import type { HeaderList } from '../ports/data-plane.ts';
import type { Gateway } from '../ports/gateway.ts';
import type { Lane } from '../ports/ledger.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../ports/upstream.ts';
import { type Outcome, rowOf } from '../route/outcomes.ts';

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
  readonly isSending: boolean;
}

/** A rescued answer as one, for its entry: the attempt that decided the call as if it had given all of it, and its use. */
export interface Sold {
  readonly record: AttemptRecord;
  readonly metered: Metered;
}

/**
 * How a call ended, before its entry is written: with an answer, of which these bytes are kept back until the entry is durable
 * (all of it, head included, where nothing has been sent); with a fault; or without the caller. `begun`: the caller has the
 * head of an answer.
 */
export type CallEnd =
  | { readonly kind: 'answered'; readonly headers: HeaderList; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly begun: boolean }
  | { readonly kind: 'caller-gone'; readonly begun: boolean };

/** Tells the operator of a refusal that only the operator can mend: it is never shown as the caller's. */
export function alertTrouble(
  { target: { channel, upstreamModel }, outcome }: Pick<AttemptRecord, 'target' | 'outcome'>,
  credentialId: string | undefined,
  observer: Gateway['observer'],
): void {
  const { alert } = rowOf(outcome);
  if (alert === null || outcome.kind !== 'refused') return;
  const { message } = outcome.refusal;
  const credential = credentialId ?? 'none';
  observer.alert(alert, { channel: channel.id, model: upstreamModel, message, credential });
}

/**
 * An outcome says something about the channel only where every upstream can do the work. Many have no endpoint that counts,
 * and few models embed: a caller who asks for that must not put a channel out of service for those who want answers.
 */
export function teaches(work: Work, outcome: Outcome): boolean {
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
export function alertBug(error: unknown, traceId: string, observer: Gateway['observer']): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  observer.alert('bug', { traceId, error: text });
}

/** A connection that failed before an answer was whole, as calls and probes judge it. */
export function outcomeOfFailure(
  { kind, detail }: UpstreamFailure,
  hasHead: boolean,
  committed: boolean,
  reading: Reading | null,
): Outcome {
  if (kind === 'connect-timeout')
    return { kind: 'timed-out', phase: 'connect', committed: false, reading: null };
  const said = `${kind}: ${detail}`;
  // Bytes in the place of an answer came from somebody.
  if (hasHead || kind === 'garbled') return { kind: 'cut', committed, detail: said, reading };
  return { kind: 'unreachable', detail: said, sent: mayBeSent[kind] };
}

/** Tells if the request, or a part of it, may have reached the upstream before it failed. */
const mayBeSent = {
  unreachable: false,
  'forbidden-address': false,
  reset: true,
  aborted: true,
} as const satisfies Record<Exclude<UpstreamFailureKind, 'connect-timeout' | 'garbled'>, boolean>;
