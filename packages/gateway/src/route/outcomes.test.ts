import type { UpstreamRefusal } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { elsewhereAfter, type Outcome, type OutcomeRow, rowOf } from './outcomes.ts';
import {
  answered,
  brokenOff,
  callerGone,
  refusedConnection,
  refusedWith,
  timedOut,
} from './route.fixture.ts';
import { wordsOn } from './words.ts';

function refused(refusal: Partial<UpstreamRefusal>, retryAfterMs: number | null = null): Outcome {
  const no = {
    kind: 'invalid-request',
    status: 400,
    message: 'No',
    type: null,
    code: null,
    param: null,
  } as const;
  return { kind: 'refused', refusal: { ...no, ...refusal }, retryAfterMs };
}

const reading = null;
const committed = false;

describe('what may be done once only', () => {
  test.each<readonly [Outcome, OutcomeRow['elsewhere'], OutcomeRow['elsewhere']]>([
    [{ kind: 'unreachable', detail: 'refused', sent: false }, 'yes', 'yes'],
    [{ kind: 'timed-out', phase: 'connect', committed, reading }, 'yes', 'yes'],
    [refused({ kind: 'rate-limited' }), 'yes', 'yes'],
    [refused({ kind: 'overloaded' }), 'yes', 'yes'],
    [refused({ kind: 'credential' }), 'yes', 'yes'],
    [refused({ kind: 'model-missing' }), 'yes', 'yes'],
    [refused({ kind: 'conflict' }), 'once', 'once'],
    [refused({ kind: 'content-policy' }), 'no', 'no'],
    [refused({ kind: 'context-length' }), 'larger', 'larger'],
    [{ kind: 'unreachable', detail: 'reset', sent: true }, 'yes', 'no'],
    [{ kind: 'timed-out', phase: 'first-content', committed, reading }, 'yes', 'no'],
    [{ kind: 'cut', committed, detail: 'end', reading }, 'yes', 'no'],
    [refused({ kind: 'server-error' }), 'yes', 'no'],
    [refused({ kind: 'garbled' }), 'yes', 'no'],
    [refused({ kind: 'blank' }), 'yes', 'no'],
  ])('after %j: otherwise %s, then %s', (outcome, otherwise, then) => {
    expect(elsewhereAfter(outcome)).toBe(otherwise);
    expect(elsewhereAfter(outcome, false)).toBe(then);
  });
});

test.each<[string, Outcome, boolean]>([
  ['refused connections', refusedConnection, true],
  ['rate limits', refusedWith('rate-limited'), true],
  ['errors', refusedWith('server-error'), true],
  ['silence', timedOut('first-content'), false],
  ['a model it does not know', refusedWith('model-missing'), false],
  ['an answer it does not know', refusedWith('answer-missing'), false],
  ['length', refusedWith('context-length'), false],
])('whether the only channel is asked again after %s', (_, outcome, isAsked) => {
  expect(rowOf(outcome).again).toBe(isAsked);
});

test.each<readonly [string, Outcome, boolean, string]>([
  ['an answer', answered(), true, 'well'],
  ['a refused connection', refusedConnection, false, 'failed'],
  ['a time-out before content', timedOut('first-content'), false, 'failed'],
  ['a stall', timedOut('stall'), true, 'broke'],
  ['the deadline of the call', timedOut('deadline'), false, 'nothing'],
  ['a cut after content', brokenOff, true, 'broke'],
  ['a cut of an answer not yet handed on', { ...brokenOff, committed: false } as Outcome, true, 'broke'],
  ['a cut before content', { ...brokenOff, committed: false } as Outcome, false, 'failed'],
  ['a caller who has gone', callerGone, false, 'nothing'],
  ['our own end', { kind: 'shut-down', committed: false, reading: null }, false, 'nothing'],
  ['a bug of ours', { kind: 'bug', committed: false, reading: null }, false, 'nothing'],
  ['a rate limit', refusedWith('rate-limited', 7), false, 'limited'],
  ['a dead credential', refusedWith('credential'), false, 'credential'],
  ['an unknown model', refusedWith('model-missing'), false, 'missing'],
  ['overload', refusedWith('overloaded'), false, 'failed'],
  ['an error of the server', refusedWith('server-error'), false, 'failed'],
  ['a page in place of an answer', refusedWith('garbled'), false, 'failed'],
  ['an empty answer', refusedWith('blank'), false, 'failed'],
  ['a conflict', refusedWith('conflict'), false, 'failed'],
  ['a wrong request', refusedWith('invalid-request'), false, 'nothing'],
  ['too long a request', refusedWith('context-length'), false, 'nothing'],
  ['a request against the policy', refusedWith('content-policy'), false, 'nothing'],
  ['an answer it never gave', refusedWith('answer-missing'), false, 'nothing'],
])('to the health of its target %s is evidence', (_, outcome, hadContent, kind) => {
  expect(rowOf(outcome, hadContent || undefined).health.kind).toBe(kind);
});

test('what leaves no doubt weighs double, and only a silence is a time-out', () => {
  const weights = [refusedConnection, timedOut('first-content'), refusedWith('server-error')].map(
    (outcome) => rowOf(outcome).health,
  );
  expect(weights).toEqual([
    { kind: 'failed', weight: 2, isTimeOut: false },
    { kind: 'failed', weight: 2, isTimeOut: true },
    { kind: 'failed', weight: 1, isTimeOut: false },
  ]);
});

describe('after a byte has reached the caller', () => {
  const committedOnes: readonly Outcome[] = [
    brokenOff,
    { kind: 'timed-out', phase: 'stall', committed: true, reading },
    { kind: 'timed-out', phase: 'deadline', committed: true, reading },
    { kind: 'shut-down', committed: true, reading },
    { kind: 'bug', committed: true, reading },
    { kind: 'caller-gone', committed: true, reading },
  ];

  test.each(committedOnes)('nothing else is asked: %j', (outcome) => {
    expect(rowOf(outcome)).toMatchObject({ elsewhere: 'no', again: false, otherCredential: false });
  });
});

test.each<readonly [Outcome, string | null]>([
  [refusedWith('overloaded'), 'overloaded: '],
  [refusedConnection, 'refused'],
  [timedOut('first-content'), 'first-content'],
  [callerGone, null],
  [answered(), null],
])('the operator reads of %j: %s', (outcome, words) => {
  expect(wordsOn(outcome, { credentials: [], secrets: [] })).toBe(words);
});
