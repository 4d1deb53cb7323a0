import {
  type Fault,
  fault,
  type PrivateNames,
  protocols,
  sanitiseUpstreamMessage,
  type UpstreamRefusal,
  unknownId,
} from '@headgate/protocols';
import type { Model, Target } from '../catalogue/catalogue.ts';
import { type Outcome, type OutcomeRow, rowOf } from './outcomes.ts';
import type { Route, RouteRequest } from './route.ts';
import type { Excluded } from './target.ts';

interface Attempted {
  readonly target: Target;
  readonly outcome: Outcome;
}

/**
 * The caller's error when no target gave an answer, from all that was tried, in order. `blockedRetryMs`: milliseconds until
 * the first of the targets that were not tried for their rate limit may be, or null when there is none.
 */
export function faultOfAttempts(
  attempts: readonly Attempted[],
  model: Model,
  blockedRetryMs: number | null,
): Fault {
  // An attempt that was let go of while another decided the call tells nothing of how it failed.
  const tried = attempts.filter(({ outcome }) => outcome.kind !== 'outrun');
  const decisive = tried.find(({ outcome }) => rowOf(outcome).told === 'always') ?? tried.at(-1);
  if (decisive === undefined) return fault('no_available_channel');
  const { target, outcome } = decisive;
  const row = rowOf(outcome);
  if (outcome.kind === 'crowded') return crowded();
  if (outcome.kind === 'over-limit') return outcome.fault;
  if (outcome.kind === 'refused' && row.told !== 'all')
    return faultOfRefusal(outcome.refusal, row, privateNamesOf(target, model));
  const isTold = row.told !== 'all' || tried.every((each) => rowOf(each.outcome).code === row.code);
  const code = (isTold ? row.code : null) ?? 'upstream_error';
  if (code === 'model_not_found') return fault(code, { param: 'model' });
  if (code === 'upstream_rate_limited')
    return fault(code, { retryAfterMs: soonestRetryMs(tried, blockedRetryMs) });
  return fault(code);
}

/** The caller holds as much memory as it may. */
export function crowded(): Fault {
  return fault('overloaded', {
    message:
      'The calls of this key or account hold as much memory as they may at once: let some of them end, then try again.',
    retryAfterMs: 1000,
  });
}

/** Statuses a caller may be told: all others say something about the channel, or ask for another try. */
const callerStatuses: readonly number[] = [400, 403, 404, 413, 414, 415, 422, 431];

/** Refusals that are the caller's own fault pass through, sanitised. */
function faultOfRefusal(refusal: UpstreamRefusal, { code }: OutcomeRow, names?: PrivateNames): Fault {
  const message = sanitiseUpstreamMessage(refusal.message, names);
  return fault(code ?? 'upstream_invalid_request', {
    status: callerStatuses.includes(refusal.status) ? refusal.status : 400,
    // Without words of the upstream's, the table's stand.
    ...(message === '' ? {} : { message }),
    param: pathOrNull(refusal.param),
    // The word that clients know, whatever this upstream calls it.
    upstreamCode:
      refusal.kind === 'context-length' ? 'context_length_exceeded' : codeWordOrNull(refusal.code, names),
  });
}

function pathOrNull(param: string | null): string | null {
  return param !== null && /^[\w.[\]-]{1,100}$/.test(param) ? param : null;
}

/** A number is a status again, and text that the sanitiser would change is no word but a key, an account or an address. */
function codeWordOrNull(code: string | null, names?: PrivateNames): string | null {
  const isWord = code !== null && /^[a-z][\w.-]{0,63}$/i.test(code);
  return isWord && sanitiseUpstreamMessage(code, names) === code ? code : null;
}

function soonestRetryMs(attempts: readonly Attempted[], blockedRetryMs: number | null): number | null {
  const waits = attempts.flatMap(({ outcome }) =>
    outcome.kind === 'refused' && outcome.retryAfterMs !== null ? [outcome.retryAfterMs] : [],
  );
  if (blockedRetryMs !== null) waits.push(blockedRetryMs);
  return waits.length === 0 ? null : Math.min(...waits);
}

/** Names of a target that are no caller's to know, and the words that stand in for them in messages of its upstream. */
function privateNamesOf({ channel, upstreamModel }: Target, model: Model): PrivateNames {
  const names = new Map([
    [upstreamModel, model.id],
    [channel.provider.name, 'the provider'],
    [hostOf(channel.baseUrl), '[address]'],
  ]);
  for (const { secret } of channel.credentials) names.set(secret, '[key]');
  return names;
}

/** With its port; without scheme and path. */
function hostOf(baseUrl: string): string {
  return baseUrl.replace(/^[a-z]+:\/\//i, '').replace(/[/?#].*$/, '');
}

/**
 * The error of a caller who goes on from an answer that another account was given: the words that upstreams have for an id
 * they do not know, so that nobody learns from it whether there is such a one.
 */
export function unknownAnswer({ protocol, facts: { continues = '' } }: RouteRequest): Fault {
  const refusal = (protocols[protocol].unknownId ?? unknownId)(continues);
  return faultOfRefusal(refusal, rowOf({ kind: 'refused', refusal, retryAfterMs: null }));
}

/** The error of a call that no target may be asked for, and that may not wait. */
export function nothingToTry(request: RouteRequest, { blockedRetryMs, considered }: Route): Fault {
  const { needs } = request.facts;
  const { pool, due } = considered;
  const excluded = [...pool.left, ...considered.excluded];
  if (blockedRetryMs !== null) return fault('upstream_rate_limited', { retryAfterMs: blockedRetryMs });
  if (isOutOfReach(excluded)) return unknownAnswer(request);
  const lacking = excluded.filter(({ reason }) => reason === 'lacks');
  const isForLack = lacking.length > 0 && due.length === 0 && excluded.every(isForGood);
  if (!isForLack) return fault('no_available_channel');
  const missing = [...needs].filter((need) =>
    lacking.every(({ candidate }) => candidate.target.lacks.has(need)),
  );
  return fault('invalid_request', {
    message: `No channel of this model takes ${new Intl.ListFormat('en').format(missing.length > 0 ? missing : needs)}: leave it out, or ask another model.`,
  });
}

/** Tells if the earlier answer is kept by a channel that cannot be asked for this model any more. */
function isOutOfReach(excluded: readonly Excluded[]): boolean {
  return (
    excluded.some(({ reason }) => reason === 'elsewhere') &&
    excluded.every((each) => each.reason === 'elsewhere' || isForGood(each))
  );
}

/** Tells if waiting would not help. */
function isForGood({ reason }: Excluded): boolean {
  return reason === 'disabled' || reason === 'not-allowed' || reason === 'lacks';
}
