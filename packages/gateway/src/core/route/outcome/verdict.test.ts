import { expect, test } from 'vitest';
import {
  answered,
  brokenOff,
  callerGone,
  refusedConnection,
  refusedWith,
  timedOut,
} from '../route.fixture.ts';
import type { Outcome } from './outcome.ts';
import { verdictOn } from './verdict.ts';

test.each<readonly [string, Outcome, boolean, string]>([
  ['an answer', answered(), true, 'success'],
  ['a refused connection', refusedConnection, false, 'failure'],
  ['a time-out before content', timedOut('first-content'), false, 'failure'],
  ['a stall', timedOut('stall'), true, 'broke'],
  ['the deadline of the call', timedOut('deadline'), false, 'nothing'],
  ['a cut after content', brokenOff, true, 'broke'],
  ['a cut of an answer not yet handed on', { ...brokenOff, committed: false } as Outcome, true, 'broke'],
  ['a cut before content', { ...brokenOff, committed: false } as Outcome, false, 'failure'],
  ['a caller who has gone', callerGone, false, 'nothing'],
  ['our own end', { kind: 'shut-down', committed: false, reading: null }, false, 'nothing'],
  ['a bug of ours', { kind: 'bug', committed: false, reading: null }, false, 'nothing'],
  ['a rate limit', refusedWith('rate-limited', 7), false, 'rate-limited'],
  ['a dead credential', refusedWith('credential'), false, 'credential'],
  ['an unknown model', refusedWith('model-missing'), false, 'model-missing'],
  ['overload', refusedWith('overloaded'), false, 'failure'],
  ['an error of the server', refusedWith('server-error'), false, 'failure'],
  ['a page in place of an answer', refusedWith('garbled'), false, 'failure'],
  ['an empty answer', refusedWith('blank'), false, 'failure'],
  ['a conflict', refusedWith('conflict'), false, 'failure'],
  ['a wrong request', refusedWith('invalid-request'), false, 'nothing'],
  ['too long a request', refusedWith('context-length'), false, 'nothing'],
  ['a request against the policy', refusedWith('content-policy'), false, 'nothing'],
  ['an answer it never gave', refusedWith('answer-missing'), false, 'nothing'],
])('%s', (_, outcome, hadContent, kind) => {
  expect(verdictOn(outcome, hadContent).kind).toBe(kind);
});

test('what leaves no doubt weighs double, and only a silence is a time-out', () => {
  const weights = [refusedConnection, timedOut('first-content'), refusedWith('server-error')].map((outcome) =>
    verdictOn(outcome, false),
  );
  expect(weights).toEqual([
    { kind: 'failure', weight: 2, isTimeOut: false },
    { kind: 'failure', weight: 2, isTimeOut: true },
    { kind: 'failure', weight: 1, isTimeOut: false },
  ]);
});
