import { fault, noUsage, type Reading, type UpstreamRefusal } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { priceOf, targetOf } from '../core/catalogue.fixture.ts';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { Ending } from './answer.ts';
import type { AttemptRecord } from './attempt.ts';
import { chatCompletions } from './call.fixture.ts';
import type { Finish } from './deliver.ts';
import type { Lane } from './lane.ts';
import { type Closing, entryOf, unsettledEntryOf } from './settle.ts';

const empty: Reading = {
  usage: null,
  finishReason: null,
  finishReasonRaw: null,
  modelServed: 'm',
  hasOutput: false,
  outputBytes: 0,
  usageAtOutputBytes: 0,
};
const usage = { ...noUsage, inputFresh: 3, output: 5 };
const whole: Reading = {
  ...empty,
  usage,
  finishReason: 'stop',
  finishReasonRaw: 'stop',
  hasOutput: true,
  outputBytes: 20,
  usageAtOutputBytes: 20,
};
const uncounted: Reading = { ...whole, usage: null, usageAtOutputBytes: 0 };
const begun = { committed: true, reading: uncounted } as const;
const notBegun = { committed: false, reading: null } as const;
const tail: Ending = { kind: 'tail', bytes: new Uint8Array(0) };

const lane: Lane = {
  kind: 'passthrough',
  protocol: chatCompletions(),
  request: { path: '/', contentType: 'application/json', headers: [], body: [], edits: [] },
  losses: [],
  framing: 'sse',
  whole: (body) => body,
  openTranslator: () => null,
};

function recordOf(outcome: Outcome): AttemptRecord {
  return {
    target: targetOf({ id: 'c1', cost: priceOf(500_000n) }),
    outcome,
    startedAt: 0,
    upstreamRequestId: null,
    httpStatus: 200,
    ttftMs: 12.0004,
    durationMs: 1342.3096090001,
    lane,
    ending: outcome.kind === 'answered' ? tail : null,
  };
}

function closingOf(outcomes: readonly Outcome[], finish: Finish, isPriced = true): Closing {
  return {
    opening: {
      traceId: '0'.repeat(32),
      accountId: 'a',
      keyId: 'k',
      groupId: 'g',
      surface: 'chat-completions',
      modelRequested: 'demo',
      stream: true,
      startedAtMs: 0,
      priceVersion: null,
      multiplierPpm: 1_000_000n,
      clientRequestId: null,
      parentTrace: null,
      userAgent: null,
    },
    tariff: { price: isPriced ? priceOf(1_000_000n) : null, multiplierPpm: 2_000_000n },
    delivery: { attempts: outcomes.map(recordOf), plans: [], finish },
    work: 'answer',
    inputTokensEstimate: 7,
    outputTokensMax: null,
    imageKind: null,
    durationMs: 1342.3096090001,
    overheadUs: 100,
    ttftMs: 12.0004,
    finishedAtMs: 2000,
  };
}

const answered: Finish = { kind: 'answered', ending: tail };
const gone: Finish = { kind: 'caller-gone', begun: true };
const failed: Finish = { kind: 'failed', fault: fault('upstream_error'), begun: false };
const failedLate: Finish = { ...failed, begun: true };
const late: Finish = { kind: 'failed', fault: fault('upstream_timeout'), begun: false };

function refused(kind: UpstreamRefusal['kind']): Outcome {
  const refusal = { kind, status: 500, message: 'No', type: null, code: null, param: null };
  return { kind: 'refused', refusal, retryAfterMs: null };
}

function timedOut(phase: 'first-content' | 'stall' | 'deadline'): Outcome {
  return phase === 'first-content'
    ? { kind: 'timed-out', phase, ...notBegun }
    : { kind: 'timed-out', phase, ...begun };
}

// A micro-dollar per token, twice over for the group: 2,000 nano-dollars for each.
const asCounted = 8n * 2000n;
const asEstimated = 12n * 2000n;

describe('the table of endings', () => {
  test.each<readonly [string, readonly Outcome[], Finish, string, string | null, bigint]>([
    ['a whole answer', [{ kind: 'answered', reading: whole }], answered, 'complete', null, asCounted],
    [
      'a whole answer of tool calls alone',
      [{ kind: 'answered', reading: { ...whole, finishReason: 'tool-calls' } }],
      answered,
      'complete',
      null,
      asCounted,
    ],
    [
      'a refusal with tokens',
      [{ kind: 'answered', reading: { ...whole, finishReason: 'refusal' } }],
      answered,
      'complete',
      null,
      asCounted,
    ],
    [
      'a stop for length with hidden tokens alone',
      [{ kind: 'answered', reading: { ...whole, finishReason: 'length', hasOutput: false } }],
      answered,
      'complete',
      null,
      asCounted,
    ],
    [
      'a whole answer that was not counted',
      [{ kind: 'answered', reading: uncounted }],
      answered,
      'complete',
      null,
      asEstimated,
    ],
    [
      'an empty answer that stopped of itself',
      [{ kind: 'answered', reading: { ...empty, finishReason: 'stop' } }],
      answered,
      'failed',
      'zero_completion',
      0n,
    ],
    [
      'a finish that is an error',
      [{ kind: 'answered', reading: { ...whole, finishReason: 'error' } }],
      answered,
      'failed',
      'upstream_failed',
      0n,
    ],
    ['a blank finish', [refused('blank')], failed, 'failed', 'zero_completion', 0n],
    [
      'all attempts failed',
      [refused('server-error'), { kind: 'unreachable', detail: 'refused', sent: false }],
      failed,
      'failed',
      'upstream_failed',
      0n,
    ],
    [
      'an upstream that refused the request',
      [refused('context-length')],
      failed,
      'failed',
      'refused_by_upstream',
      0n,
    ],
    [
      'cut before content',
      [{ kind: 'cut', detail: 'reset', ...notBegun }],
      failed,
      'failed',
      'upstream_failed',
      0n,
    ],
    [
      'an error or an end without a terminal frame, after content',
      [{ kind: 'cut', detail: 'ended', ...begun }],
      failedLate,
      'failed',
      'cut_after_content',
      0n,
    ],
    ['a stall', [timedOut('stall')], failedLate, 'failed', 'cut_after_content', 0n],
    ['the deadline', [timedOut('deadline')], late, 'timed_out', 'timed_out', 0n],
    ['no first content in time', [timedOut('first-content')], late, 'timed_out', 'timed_out', 0n],
    [
      'the caller gone after content',
      [{ kind: 'caller-gone', ...begun }],
      gone,
      'caller_gone',
      null,
      asEstimated,
    ],
    [
      'the caller gone before content',
      [{ kind: 'caller-gone', ...notBegun }],
      gone,
      'caller_gone',
      'caller_gone_before_content',
      0n,
    ],
    ['refused before any attempt', [], failed, 'failed', 'refused_by_gateway', 0n],
    ['our own end', [{ kind: 'shut-down', ...begun }], failedLate, 'failed', 'cut_after_content', 0n],
    ['a bug of ours', [{ kind: 'bug', ...notBegun }], failed, 'failed', 'refused_by_gateway', 0n],
  ])('%s', (_, outcomes, finish, status, unbilledReason, chargeNanoUsd) => {
    expect(entryOf(closingOf(outcomes, finish))).toMatchObject({ status, unbilledReason, chargeNanoUsd });
  });
});

test('a model without a price is not billed, and the entry says so', () => {
  const closing = closingOf([{ kind: 'answered', reading: whole }], answered, false);
  expect(entryOf(closing)).toMatchObject({
    status: 'complete',
    unbilledReason: 'unpriced_model',
    chargeNanoUsd: 0n,
  });
});

test('an estimate is never more than the caller allowed', () => {
  const closing = { ...closingOf([{ kind: 'answered', reading: uncounted }], answered), outputTokensMax: 2 };
  expect(entryOf(closing)).toMatchObject({ usage: { inputFresh: 7, output: 2 }, usageSource: 'estimated' });
});

test('what a failed attempt used is our cost', () => {
  const cut = { kind: 'cut', detail: 'reset', committed: true, reading: whole } as const;
  expect(entryOf(closingOf([cut], failedLate))).toMatchObject({
    chargeNanoUsd: 0n,
    attempts: [{ result: 'cut_after_content', usage, costNanoUsd: 8n * 500n }],
  });
});

test('an entry that was not taken is not billed, whatever it says', () => {
  expect(unsettledEntryOf(closingOf([{ kind: 'caller-gone', ...begun }], gone))).toMatchObject({
    status: 'failed',
    unbilledReason: 'ledger_failed',
    chargeNanoUsd: 0n,
    errorCode: 'internal',
  });
});

test('durations are in microseconds, without the noise of floats', () => {
  expect(entryOf(closingOf([{ kind: 'answered', reading: whole }], answered))).toMatchObject({
    durationMs: 1342.31,
    ttftMs: 12,
    attempts: [{ durationMs: 1342.31, ttftMs: 12 }],
  });
});

test('a credential that the upstream repeats is not kept', () => {
  const secret = 'canary-credential';
  const refusal = {
    kind: 'credential' as const,
    status: 401,
    type: null,
    message: `No such key: ${secret}, or `.repeat(40),
  };
  const record = recordOf({
    kind: 'refused',
    refusal: { ...refusal, code: null, param: null },
    retryAfterMs: null,
  });
  const channel = { ...record.target.channel, credentials: [{ id: 'KEY', secret }] };
  const closing = closingOf([], failed);
  const attempts = [{ ...record, target: { ...record.target, channel } }];
  const entry = entryOf({ ...closing, delivery: { ...closing.delivery, attempts } });
  expect(entry.attempts[0]?.detail).toMatch(/^credential: No such key: \[key\], or No/);
  expect(entry.attempts[0]?.detail).not.toContain('canary');
  expect(entry.attempts[0]?.detail).toHaveLength(500);
});
