import { errorTable, type UpstreamRefusal } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { refusedConnection, refusedWith, timedOut } from '../route.fixture.ts';
import { faultOf, isCallersFault, mayAskAgain, retryElsewhere } from './fallback.ts';
import type { Outcome } from './outcome.ts';

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

const limited = (retryAfterMs: number | null) => refused({ kind: 'rate-limited', status: 429 }, retryAfterMs);

const reading = null;
const committed = false;

describe('what may be done once only', () => {
  test.each<readonly [Outcome, ReturnType<typeof retryElsewhere>, ReturnType<typeof retryElsewhere>]>([
    [{ kind: 'unreachable', detail: 'refused', sent: false }, 'yes', 'yes'],
    [{ kind: 'timed-out', phase: 'connect', committed, reading }, 'yes', 'yes'],
    [refused({ kind: 'rate-limited' }), 'yes', 'yes'],
    [refused({ kind: 'overloaded' }), 'yes', 'yes'],
    [refused({ kind: 'credential' }), 'yes', 'yes'],
    [refused({ kind: 'model-missing' }), 'yes', 'yes'],
    [refused({ kind: 'conflict' }), 'once', 'once'],
    [refused({ kind: 'content-policy' }), 'no', 'no'],
    [{ kind: 'unreachable', detail: 'reset', sent: true }, 'yes', 'no'],
    [{ kind: 'timed-out', phase: 'first-content', committed, reading }, 'yes', 'no'],
    [{ kind: 'cut', committed, detail: 'end', reading }, 'yes', 'no'],
    [refused({ kind: 'server-error' }), 'yes', 'no'],
    [refused({ kind: 'garbled' }), 'yes', 'no'],
    [refused({ kind: 'blank' }), 'yes', 'no'],
  ])('after %j: otherwise %s, then %s', (outcome, otherwise, then) => {
    expect(retryElsewhere(outcome)).toBe(otherwise);
    expect(retryElsewhere(outcome, false)).toBe(then);
  });
});

describe('faultOf', () => {
  test('without words of the upstream the caller reads ours', () => {
    const outcome = refused({ status: 413, message: '' });
    expect(faultOf([outcome], null)).toMatchObject({
      status: 413,
      message: errorTable.upstream_invalid_request.text,
      upstreamCode: null,
    });
    expect(retryElsewhere(outcome)).toBe('no');
    expect(outcome.kind === 'refused' && isCallersFault(outcome.refusal)).toBe(true);
  });

  test.each([
    [400, 400],
    [422, 422],
    [431, 431],
    [200, 400],
    [429, 400],
    [401, 400],
  ])('%i in front of a fault of the caller is told as %i', (status, told) => {
    expect(faultOf([refused({ status })], null).status).toBe(told);
  });

  test.each(['messages[0].role', 'n', 'response_format.json_schema', 'user_location', 'top-p'])(
    'a path of the request is told: %s',
    (param) => expect(faultOf([refused({ param })], null).param).toBe(param),
  );

  test.each(['', 'a b', 'https://10.0.0.7/x', 'a\r\nx: y', '<b>', 'ü', 'x'.repeat(101)])(
    'what is no path is not: %j',
    (param) => expect(faultOf([refused({ param })], null).param).toBeNull(),
  );

  test.each(['context_length_exceeded', 'InvalidParameter.DataCheck', 'E1261'])(
    'a word for a code is told: %s',
    (code) => expect(faultOf([refused({ code })], null).upstreamCode).toBe(code),
  );

  test.each([
    '',
    '400',
    '10.0.0.7',
    'sk-proj-abcdefghijklmnop',
    'org-a1b2c3d4',
    'a b',
    'a\n',
    'x'.repeat(65),
  ])('what is no word is not: %j', (code) =>
    expect(faultOf([refused({ code })], null).upstreamCode).toBeNull(),
  );

  test('too long has one code, whatever the upstream called it', () => {
    const outcome = refused({ kind: 'context-length', status: 429, code: 'rate_limit_exceeded' });
    expect(faultOf([outcome], null)).toMatchObject({ status: 400, upstreamCode: 'context_length_exceeded' });
  });

  test.each([
    [[30_000, 7_000], null, 7_000],
    [[30_000, null], 2_000, 2_000],
    [[1_000], 2_000, 1_000],
    [[null], 2_000, 2_000],
    [[null], null, null],
  ])(
    'rate limits of %j, and %s for those not tried: the soonest counts',
    (waits, blockedRetryMs, soonest) => {
      expect(faultOf(waits.map(limited), blockedRetryMs)).toMatchObject({
        code: 'upstream_rate_limited',
        retryAfterMs: soonest,
      });
    },
  );
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
  expect(mayAskAgain(outcome)).toBe(isAsked);
});
