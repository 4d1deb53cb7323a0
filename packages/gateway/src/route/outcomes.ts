import type { ErrorCode } from '@headgate/protocols';
import type { AttemptResult, CallEntry, UnbilledReason } from '../ports/ledger.ts';
import type { Outcome, OutcomeCase } from './outcome.ts';

export type { Outcome } from './outcome.ts';

/**
 * An outcome as evidence about its target. A weight of 2 is for failures that leave no doubt; `limited` is about capacity;
 * `credential` and `missing` are the operator's to mend, and no outage; `nothing` says nothing of the target.
 */
export type Evidence =
  | { readonly kind: 'well' | 'broke' | 'limited' | 'credential' | 'missing' | 'nothing' }
  | { readonly kind: 'failed'; readonly weight: 1 | 2; readonly isTimeOut: boolean };

export interface OutcomeRow {
  /** For the documentation. */
  readonly what: string;
  /** `once`: a second one of this sort is believed. `larger`: only a channel that takes a longer prompt, or one that may. */
  readonly elsewhere: 'yes' | 'once' | 'larger' | 'no';
  /** The upstream has certainly not done what it was asked for: then even what may be done once only is asked elsewhere. */
  readonly undone: boolean;
  /** The same channel may be asked once more after a moment, if there is no other. */
  readonly again: boolean;
  /** It was said to the credential: another one of the same channel may be tried at once. */
  readonly otherCredential: boolean;
  /** Within a second it costs the caller next to nothing, and half an attempt. */
  readonly cheap: boolean;
  readonly health: Evidence;
  /** A probe that ends so has found somebody there: calls find out the rest. */
  readonly alive: boolean;
  readonly status: CallEntry['status'];
  /** Null when the call is billed. */
  readonly unbilled: UnbilledReason | null;
  readonly result: AttemptResult;
  /** The caller's; null where the caller is told nothing of it. */
  readonly code: ErrorCode | null;
  /** The code is told `always`, if the `last` attempt ended so, or if they `all` did; else it is `upstream_error`. */
  readonly told: 'always' | 'last' | 'all';
  readonly alert: 'credential-refused' | 'model-missing-upstream' | null;
  /** For the operator, where the outcome has no words of its own. */
  readonly words: string | null;
}

const nothing: Evidence = { kind: 'nothing' };
const broke: Evidence = { kind: 'broke' };
const failed: Evidence = { kind: 'failed', weight: 1, isTimeOut: false };
const surelyFailed: Evidence = { kind: 'failed', weight: 2, isTimeOut: false };
const timedOut: Evidence = { kind: 'failed', weight: 2, isTimeOut: true };

/** An attempt that ends the call and says nothing of its target; the other rows say how they differ from a few such. */
const end = {
  elsewhere: 'no',
  undone: false,
  again: false,
  otherCredential: false,
  cheap: false,
  health: nothing,
  alive: false,
  told: 'last',
  alert: null,
  words: null,
} as const satisfies Partial<OutcomeRow>;

/** The upstream has refused, and another one may not. */
const refused = {
  ...end,
  elsewhere: 'yes',
  undone: true,
  again: true,
  cheap: true,
  health: failed,
  status: 'failed',
  unbilled: 'upstream_failed',
  result: 'refused',
  code: 'upstream_error',
  told: 'all',
} as const satisfies Partial<OutcomeRow>;

/** The upstream has refused the request itself: none is to blame, and no other is tried. */
const callersFault = {
  ...refused,
  elsewhere: 'no',
  again: false,
  health: nothing,
  alive: true,
  unbilled: 'refused_by_upstream',
  code: 'upstream_invalid_request',
  told: 'last',
} as const satisfies Partial<OutcomeRow>;

/** No word came from the upstream. */
const unanswered = {
  ...end,
  elsewhere: 'yes',
  status: 'timed_out',
  unbilled: 'timed_out',
  result: 'timed_out',
  code: 'upstream_timeout',
  told: 'all',
} as const satisfies Partial<OutcomeRow>;

/** The caller has the beginning of an answer that has no end. */
const brokenOff = {
  ...end,
  status: 'failed',
  unbilled: 'cut_after_content',
  result: 'cut_after_content',
} as const satisfies Partial<OutcomeRow>;

/** Ours, not the upstream's. */
const ourFault = {
  ...end,
  status: 'failed',
  unbilled: 'refused_by_gateway',
  result: 'cut_before_content',
} as const satisfies Partial<OutcomeRow>;

/** Ours as well, and the caller's: its other calls have the place. */
const crowdedOut = {
  alive: true,
  code: 'overloaded',
  words: 'the caller holds as much memory as it may',
} as const satisfies Partial<OutcomeRow>;

/** It is told what its own fault says: money, or tokens of a window. */
const spent = {
  alive: true,
  code: 'insufficient_balance',
  told: 'always',
  words: 'the caller has reached a limit of its own',
} as const satisfies Partial<OutcomeRow>;

/**
 * The meaning of each outcome, for everything that asks: search, settlement, router, prober, simulation (routing.md, "Fallback";
 * ledger.md, "One entry per call"). `docs/routing.md` is generated from it, and a test keeps them equal.
 */
export const outcomeTable = {
  answered: {
    ...end,
    what: 'a whole answer',
    health: { kind: 'well' },
    status: 'complete',
    unbilled: null,
    result: 'answered',
    code: null,
  },
  'invalid-request': { ...callersFault, what: 'a wrong request' },
  'context-length': {
    ...callersFault,
    what: 'too long a prompt',
    elsewhere: 'larger',
    told: 'always',
  },
  'content-policy': { ...callersFault, what: 'a request against the policy', code: 'content_refused' },
  'answer-missing': {
    ...callersFault,
    what: 'an earlier answer, conversation or file that is not known there',
    elsewhere: 'yes',
  },
  'rate-limited': {
    ...refused,
    what: 'a rate limit',
    otherCredential: true,
    health: { kind: 'limited' },
    alive: true,
    code: 'upstream_rate_limited',
  },
  credential: {
    ...refused,
    what: 'a refused credential, or an account without credit',
    otherCredential: true,
    health: { kind: 'credential' },
    alert: 'credential-refused',
  },
  'model-missing': {
    ...refused,
    what: 'a model that is not known there',
    again: false,
    health: { kind: 'missing' },
    alive: true,
    code: 'model_not_found',
    alert: 'model-missing-upstream',
  },
  overloaded: { ...refused, what: 'overload' },
  conflict: { ...refused, what: '408, 409 or 425', elsewhere: 'once' },
  'server-error': { ...refused, what: 'an error of the server', undone: false },
  garbled: { ...refused, what: 'a page, or what is not of the protocol', undone: false },
  blank: { ...refused, what: 'an empty answer', undone: false, unbilled: 'zero_completion' },
  unreachable: {
    ...refused,
    what: 'no connection',
    health: surelyFailed,
    result: 'unreachable',
  },
  lost: {
    ...refused,
    what: 'a connection lost before any answer',
    undone: false,
    health: surelyFailed,
    result: 'unreachable',
  },
  'connect-timeout': {
    ...unanswered,
    what: 'no connection in time',
    undone: true,
    again: true,
    health: timedOut,
    words: 'connect',
  },
  silent: { ...unanswered, what: 'no content in time', health: timedOut, words: 'first-content' },
  stalled: {
    ...unanswered,
    what: 'an answer that stopped coming, nothing of it handed on',
    health: broke,
    status: 'failed',
    unbilled: 'cut_after_content',
    words: 'stall',
  },
  'stalled-after-content': {
    ...brokenOff,
    what: 'an answer that stopped coming',
    health: broke,
    result: 'timed_out',
    code: 'upstream_timeout',
    words: 'stall',
  },
  deadline: {
    ...unanswered,
    what: 'the deadline of the call',
    elsewhere: 'no',
    told: 'last',
    words: 'deadline',
  },
  cut: {
    ...refused,
    what: 'an answer that broke off before its content',
    undone: false,
    cheap: false,
    result: 'cut_before_content',
  },
  'cut-after-content': {
    ...brokenOff,
    what: 'an answer that broke off',
    health: broke,
    code: 'upstream_error',
  },
  'caller-gone': {
    ...end,
    what: 'a caller who left before any content',
    status: 'caller_gone',
    unbilled: 'caller_gone_before_content',
    result: 'caller_gone',
    code: null,
  },
  'caller-gone-after-content': {
    ...end,
    what: 'a caller who left',
    status: 'caller_gone',
    unbilled: null,
    result: 'caller_gone',
    code: null,
  },
  'over-limit': {
    ...ourFault,
    ...spent,
    what: 'a limit of the caller that its call has reached before any content',
  },
  'over-limit-after-content': {
    ...end,
    ...spent,
    what: 'a limit of the caller that its call has reached',
    status: 'limit_reached',
    unbilled: null,
    result: 'limit_reached',
  },
  'shut-down': {
    ...ourFault,
    what: 'our own end',
    code: 'overloaded',
    words: 'the gateway had to stop',
  },
  'shut-down-after-content': {
    ...brokenOff,
    what: 'our own end, in an answer',
    code: 'overloaded',
    words: 'the gateway had to stop',
  },
  crowded: { ...ourFault, ...crowdedOut, what: 'no memory for the answer: the caller holds its share' },
  'crowded-after-content': {
    ...brokenOff,
    ...crowdedOut,
    what: 'no memory for the rest of an answer: the caller holds its share',
  },
  bug: { ...ourFault, what: 'a bug of ours', alive: true, code: 'internal', words: 'a bug in the gateway' },
  'bug-after-content': {
    ...brokenOff,
    what: 'a bug of ours, in an answer',
    alive: true,
    code: 'internal',
    words: 'a bug in the gateway',
  },
  unjoined: {
    ...brokenOff,
    what: 'a continuation that does not join what was said before it',
    result: 'aborted',
    code: 'upstream_error',
    words: 'nothing shows where it continues',
  },
  outrun: {
    ...ourFault,
    what: 'let go of: another attempt decided the call',
    result: 'aborted',
    code: null,
    words: 'another attempt decided the call',
  },
} as const satisfies Record<OutcomeCase, OutcomeRow>;

/**
 * The row of an outcome. `isBegun`: whether its answer had begun: for the caller, to whom a byte of it was handed; for
 * the health of the target, which had begun it even if nothing was handed on.
 */
export function rowOf(outcome: Outcome, isBegun = isCommitted(outcome)): OutcomeRow {
  return outcomeTable[caseOf(outcome, isBegun)];
}

/** The line of the table that an outcome is of. */
export function caseOf(outcome: Outcome, isBegun = isCommitted(outcome)): OutcomeCase {
  switch (outcome.kind) {
    case 'answered':
    case 'outrun':
    case 'unjoined':
      return outcome.kind;
    case 'refused':
      return outcome.refusal.kind;
    case 'unreachable':
      return outcome.sent ? 'lost' : 'unreachable';
    case 'timed-out':
      return timeOuts[outcome.phase][isBegun ? 1 : 0];
    case 'cut':
    case 'caller-gone':
    case 'over-limit':
    case 'shut-down':
    case 'crowded':
    case 'bug':
      return isBegun ? `${outcome.kind}-after-content` : outcome.kind;
    default:
      return outcome satisfies never;
  }
}

const timeOuts = {
  connect: ['connect-timeout', 'connect-timeout'],
  'first-content': ['silent', 'stalled-after-content'],
  stall: ['stalled', 'stalled-after-content'],
  deadline: ['deadline', 'deadline'],
} as const;

function isCommitted(outcome: Outcome): boolean {
  return 'committed' in outcome && outcome.committed;
}

/** May another channel be tried? What is not `repeatable` is, only if the upstream has certainly not done it. */
export function elsewhereAfter(outcome: Outcome, repeatable = true): OutcomeRow['elsewhere'] {
  const row = rowOf(outcome);
  return repeatable || row.undone ? row.elsewhere : 'no';
}
