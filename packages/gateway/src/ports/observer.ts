import type { ErrorCode, Platform } from '@headgate/protocols';
import type { AlertDetail, AlertKind } from '../catalogue/alert-kinds.ts';
import type { Target } from '../catalogue/catalogue.ts';
import type { ServiceChange } from '../route/attempt.ts';
import type { Outcome } from '../route/outcomes.ts';
import type { CallEntry } from './ledger.ts';

/**
 * The end of a stream that broke off: it ended `whole`, or its caller `left` meanwhile; nobody could be asked (`untried`),
 * what came joined nowhere (`unjoined`), or those who were asked `failed`.
 */
export type RescueEnd = 'whole' | 'left' | 'untried' | 'unjoined' | 'failed';

/** A request that was answered with an error before it became a call. Nothing of what the caller sent is in it. */
export interface Refusal {
  readonly platform: Platform;
  readonly code: ErrorCode;
  readonly status: number;
  readonly traceId: string;
}

/** An attempt of a call that has ended. Milliseconds. */
export interface EndedAttempt {
  readonly target: Target;
  readonly outcome: Outcome;
  readonly ttftMs: number | null;
}

/** Who watches calls from outside the hot path: logs and metrics. Never throws, never waits. */
export interface Observer {
  callStarted(): void;
  /** Also called for calls the ledger could not take. */
  callFinished(entry: CallEntry, attempts: readonly EndedAttempt[]): void;
  refused(refusal: Refusal): void;
  /** A probe of ours has ended, of this public model. */
  probed(target: Target, modelId: string, outcome: Outcome): void;
  /** A stream of text broke off in a group that has such streams continued. */
  rescued(end: RescueEnd): void;
  /** A target was taken out of service for its failures, or is back in it. */
  serviceChanged(change: ServiceChange, channelId: string, upstreamModel: string): void;
  /** `detail` is private: it goes to the log and to operators, never to a caller. */
  alert(kind: AlertKind, detail: AlertDetail): void;
  /** The thing that an alert with these members told of is over. */
  alertOver(kind: AlertKind, detail: AlertDetail): void;
}
