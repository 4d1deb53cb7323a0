import { errorTable, type ProtocolId, type UpstreamRefusal } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { modelOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import { faultOfAttempts, unknownAnswer } from './faults.ts';
import type { Outcome } from './outcomes.ts';
import { asking, brokenOff, refusedConnection, refusedWith, streamed, timedOut } from './route.fixture.ts';

const target = targetOf({ id: 'a' });
const model = modelOf([target]);

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

function faultOf(outcomes: readonly Outcome[], blockedRetryMs: number | null = null) {
  const attempts = outcomes.map((outcome) => ({ target, outcome }));
  return faultOfAttempts(attempts, model, blockedRetryMs);
}

const limited = (retryAfterMs: number | null) => refused({ kind: 'rate-limited', status: 429 }, retryAfterMs);

describe('the error of a call', () => {
  test('without words of the upstream the caller reads ours', () => {
    const outcome = refused({ status: 413, message: '' });
    expect(faultOf([outcome])).toMatchObject({
      status: 413,
      message: errorTable.upstream_invalid_request.text,
      upstreamCode: null,
    });
  });

  test.each([
    [400, 400],
    [422, 422],
    [431, 431],
    [200, 400],
    [429, 400],
    [401, 400],
  ])('%i in front of a fault of the caller is told as %i', (status, told) => {
    expect(faultOf([refused({ status })]).status).toBe(told);
  });

  test.each(['messages[0].role', 'n', 'response_format.json_schema', 'user_location', 'top-p'])(
    'a path of the request is told: %s',
    (param) => expect(faultOf([refused({ param })]).param).toBe(param),
  );

  test.each(['', 'a b', 'https://10.0.0.7/x', 'a\r\nx: y', '<b>', 'ü', 'x'.repeat(101)])(
    'what is no path is not: %j',
    (param) => expect(faultOf([refused({ param })]).param).toBeNull(),
  );

  test.each(['context_length_exceeded', 'InvalidParameter.DataCheck', 'E1261'])(
    'a word for a code is told: %s',
    (code) => expect(faultOf([refused({ code })]).upstreamCode).toBe(code),
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
  ])('what is no word is not: %j', (code) => expect(faultOf([refused({ code })]).upstreamCode).toBeNull());

  test('too long has one code, whatever the upstream called it', () => {
    const outcome = refused({ kind: 'context-length', status: 429, code: 'rate_limit_exceeded' });
    expect(faultOf([outcome])).toMatchObject({ status: 400, upstreamCode: 'context_length_exceeded' });
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

const outrun: Outcome = { kind: 'outrun', reading: null };

test.each<readonly [string, readonly Outcome[], string]>([
  ['nobody asked', [], 'no_available_channel'],
  ['no connection', [refusedConnection], 'upstream_error'],
  ['a model nobody knows', [refusedWith('model-missing'), refusedWith('model-missing')], 'model_not_found'],
  ['a model one does not know', [refusedWith('model-missing'), refusedWith('overloaded')], 'upstream_error'],
  ['rate limits', [refusedWith('rate-limited'), refusedWith('rate-limited')], 'upstream_rate_limited'],
  ['a rate limit and a fault', [refusedWith('server-error'), refusedWith('rate-limited')], 'upstream_error'],
  ['silence everywhere', [timedOut('first-content'), timedOut('first-content')], 'upstream_timeout'],
  ['silence after a fault', [refusedConnection, timedOut('first-content')], 'upstream_error'],
  ['the deadline after a fault', [refusedConnection, timedOut('deadline')], 'upstream_timeout'],
  ['a stall after a fault', [refusedConnection, timedOut('stall')], 'upstream_timeout'],
  ['an answer that broke off', [brokenOff], 'upstream_error'],
  ['a wrong request', [refusedConnection, refusedWith('invalid-request')], 'upstream_invalid_request'],
  ['the policy', [refusedWith('content-policy')], 'content_refused'],
  [
    'too long, and then a fault',
    [refusedWith('context-length'), refusedConnection],
    'upstream_invalid_request',
  ],
  ['silence, the other let go of', [timedOut('first-content'), outrun], 'upstream_timeout'],
  ['our own end', [refusedConnection, { kind: 'shut-down', committed: false, reading: null }], 'overloaded'],
  ['a bug', [{ kind: 'bug', committed: true, reading: null }], 'internal'],
])('after %s', (_, outcomes, code) => {
  expect(faultOf(outcomes).code).toBe(code);
});

test.each<readonly [ProtocolId, string, number, string]>([
  ['responses', 'resp_1', 400, "Previous response with id 'resp_1' not found."],
  ['responses', 'conv_1', 404, "Conversation with id 'conv_1' not found."],
  ['generate-content', 'cachedContents/1', 403, 'CachedContent not found (or permission denied)'],
  ['messages', 'container_1', 404, 'Not found: container_1'],
])('%s: nobody is told of another account’s %s', (protocol, continues, status, message) => {
  const request = { ...asking({ ...streamed, continues }, model), protocol };
  expect(unknownAnswer(request)).toMatchObject({ code: 'upstream_invalid_request', status, message });
});
