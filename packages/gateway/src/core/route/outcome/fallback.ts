import {
  type Fault,
  fault,
  type PrivateNames,
  sanitiseUpstreamMessage,
  type UpstreamRefusal,
  unreachable,
} from '@headgate/protocols';
import type { Target } from '../../catalogue.ts';
import type { Outcome } from './outcome.ts';

type Retry = 'yes' | 'once' | 'no';

/**
 * May the next target be tried? Never after a byte reached the caller (routing.md, "Fallback").
 * `once`: another channel may be tried, but a second refusal of this sort is believed. What is not `repeatable` is tried
 * elsewhere only if it never reached the upstream, or was refused by it.
 */
export function retryElsewhere(outcome: Outcome, repeatable = true): Retry {
  return repeatable || isUndone(outcome) ? retryAnyElsewhere(outcome) : 'no';
}

/** Whether an upstream has certainly not done what it was asked for. */
function isUndone(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'refused':
      return isPlainRefusal(outcome.refusal.kind);
    case 'unreachable':
      return !outcome.sent;
    case 'timed-out':
      return outcome.phase === 'connect';
    case 'answered':
    case 'caller-gone':
    case 'shut-down':
    case 'bug':
    case 'cut':
    case 'outrun':
      return false;
    default:
      return unreachable(outcome);
  }
}

/** Said before any work, as against an error on the way. */
function isPlainRefusal(kind: UpstreamRefusal['kind']): boolean {
  switch (kind) {
    case 'invalid-request':
    case 'context-length':
    case 'content-policy':
    case 'rate-limited':
    case 'credential':
    case 'model-missing':
    case 'answer-missing':
    case 'overloaded':
    case 'conflict':
      return true;
    case 'server-error':
    case 'garbled':
    case 'blank':
      return false;
    default:
      return unreachable(kind);
  }
}

function retryAnyElsewhere(outcome: Outcome): Retry {
  switch (outcome.kind) {
    case 'answered':
    case 'caller-gone':
    case 'shut-down':
    case 'bug':
    case 'outrun':
      return 'no';
    case 'refused':
      return retryRefusalElsewhere(outcome.refusal.kind);
    case 'unreachable':
      return 'yes';
    case 'timed-out':
      return outcome.committed || outcome.phase === 'deadline' ? 'no' : 'yes';
    case 'cut':
      return outcome.committed ? 'no' : 'yes';
    default:
      return unreachable(outcome);
  }
}

function retryRefusalElsewhere(kind: UpstreamRefusal['kind']): Retry {
  switch (kind) {
    case 'invalid-request':
    case 'context-length':
    case 'content-policy':
      return 'no';
    case 'conflict':
      return 'once';
    case 'rate-limited':
    case 'credential':
    case 'model-missing':
    case 'overloaded':
    case 'server-error':
    case 'garbled':
    case 'blank':
    case 'answer-missing':
      return 'yes';
    default:
      return unreachable(kind);
  }
}

/**
 * Whether an outcome was about the credential, and the channel has another one: then that may be tried, although no channel
 * is asked twice for what it did itself.
 */
export function mayTryOtherCredential(outcome: Outcome, { channel }: Target): boolean {
  if (outcome.kind !== 'refused' || channel.credentials.length < 2) return false;
  return outcome.refusal.kind === 'credential' || outcome.refusal.kind === 'rate-limited';
}

/**
 * After an outcome that may be retried elsewhere, whether there is sense in asking the same channel once more, where there is
 * no other: not one that was silent for as long as it may be, nor one that lacks what is asked for.
 */
export function mayAskAgain(outcome: Outcome): boolean {
  if (outcome.kind === 'timed-out') return outcome.phase === 'connect';
  if (outcome.kind !== 'refused') return true;
  const { kind } = outcome.refusal;
  return kind !== 'answer-missing' && kind !== 'model-missing' && kind !== 'context-length';
}

/** Whether the call was too long for its target: one that declares to take more may be asked, and no other. */
export function isTooLong(outcome: Outcome): boolean {
  return isRefusal(outcome, 'context-length');
}

/** Whether an upstream refused the request itself: then none is to blame, and unless it lacks an answer, no other is tried. */
export function isCallersFault({ kind }: UpstreamRefusal): boolean {
  return kind === 'answer-missing' || retryRefusalElsewhere(kind) === 'no';
}

/**
 * What the caller sees when no target gave an answer, from all that was tried. `blockedRetryMs`: milliseconds until the
 * first of the targets that were not tried for their rate limit may be, or null when there is none. `names` are those of
 * the target tried last, whose words may be passed on.
 */
export function faultOf(
  outcomes: readonly Outcome[],
  blockedRetryMs: number | null,
  names?: PrivateNames,
): Fault {
  const last = outcomes.at(-1);
  if (last === undefined) return fault('no_available_channel');
  if (last.kind === 'shut-down') return fault('overloaded');
  if (last.kind === 'bug') return fault('internal');
  if (last.kind === 'refused') {
    const said = faultOfCallerRefusal(last.refusal, names);
    if (said !== null) return said;
  }
  if (outcomes.every((outcome) => isRefusal(outcome, 'model-missing')))
    return fault('model_not_found', { param: 'model' });
  if (outcomes.every((outcome) => isRefusal(outcome, 'rate-limited'))) {
    return fault('upstream_rate_limited', { retryAfterMs: soonestRetryMs(outcomes, blockedRetryMs) });
  }
  if (last.kind === 'timed-out' && (last.phase === 'deadline' || last.committed))
    return fault('upstream_timeout');
  if (outcomes.every((outcome) => outcome.kind === 'timed-out')) return fault('upstream_timeout');
  return fault('upstream_error');
}

/** Statuses a caller may be told: all others say something about the channel, or ask for another try. */
const callerStatuses: readonly number[] = [400, 403, 404, 413, 414, 415, 422, 431];

/** Refusals that are the caller's own fault pass through, sanitised; null for every other kind. */
function faultOfCallerRefusal(refusal: UpstreamRefusal, names?: PrivateNames): Fault | null {
  const message = sanitiseUpstreamMessage(refusal.message, names);
  const said = {
    status: callerStatuses.includes(refusal.status) ? refusal.status : 400,
    // Without words of the upstream's, the table's stand.
    ...(message === '' ? {} : { message }),
    param: pathOrNull(refusal.param),
    upstreamCode: codeWordOrNull(refusal.code, names),
  };
  switch (refusal.kind) {
    case 'invalid-request':
    case 'answer-missing':
      return fault('upstream_invalid_request', said);
    case 'context-length':
      // The word that clients know, whatever this upstream calls it.
      return fault('upstream_invalid_request', { ...said, upstreamCode: 'context_length_exceeded' });
    case 'content-policy':
      return fault('content_refused', said);
    default:
      return null;
  }
}

function pathOrNull(param: string | null): string | null {
  return param !== null && /^[\w.[\]-]{1,100}$/.test(param) ? param : null;
}

/** A number is a status again, and what the sanitiser would change is no word but a key, an account or an address. */
function codeWordOrNull(code: string | null, names?: PrivateNames): string | null {
  const isWord = code !== null && /^[a-z][\w.-]{0,63}$/i.test(code);
  return isWord && sanitiseUpstreamMessage(code, names) === code ? code : null;
}

function isRefusal(outcome: Outcome, kind: UpstreamRefusal['kind']): boolean {
  return outcome.kind === 'refused' && outcome.refusal.kind === kind;
}

function soonestRetryMs(outcomes: readonly Outcome[], blockedRetryMs: number | null): number | null {
  const waits = outcomes.flatMap((outcome) =>
    outcome.kind === 'refused' && outcome.retryAfterMs !== null ? [outcome.retryAfterMs] : [],
  );
  if (blockedRetryMs !== null) waits.push(blockedRetryMs);
  return waits.length === 0 ? null : Math.min(...waits);
}
