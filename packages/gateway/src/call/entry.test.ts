import { fault, type InboundRequest, noUsage, type Reading, type UpstreamRefusal } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Outcome } from '../route/outcomes.ts';
import { caller, chatCompletions, Rig } from './call.fixture.ts';
import { entryOf as entryFrom, unsettledEntryOf } from './entry.ts';
import type { AttemptRecord, CallEnd } from './outcomes.ts';
import { Call } from './request.ts';

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

function recordOf(outcome: Outcome): AttemptRecord {
  return {
    target: targetOf({ id: 'c1', cost: priceOf(500_000n) }),
    outcome,
    startedAt: 0,
    upstreamRequestId: null,
    httpStatus: 200,
    ttftMs: 12.0004,
    durationMs: 1342.3096090001,
    lane: 'passthrough',
    edits: [],
    losses: [],
    isSending: false,
  };
}

/** A call of which this came, and how it ended. */
interface Ended {
  readonly call: Call;
  readonly finish: CallEnd;
}

const entryOf = ({ call, finish }: Ended) => entryFrom(call, finish);

function requestOf(maxOutputTokens: number | null): InboundRequest {
  return {
    facts: {
      model: 'demo',
      stream: true,
      maxOutputTokens,
      inputTokensEstimate: 7,
      choices: 1,
      needs: new Set(),
    },
    wantsUsageFrame: false,
    framing: 'sse',
    passThrough: () => {
      throw new Error('nothing is sent');
    },
  };
}

function callOf(
  outcomes: readonly Outcome[],
  finish: CallEnd,
  { isPriced = true, maxOutputTokens = null as number | null } = {},
): Ended {
  const rig = new Rig();
  const gateway = { ...rig.gateway, clock: { now: () => 2000, monotonic: () => 1342.3096090001 } };
  const inbound = { ...rig.inbound(true), receivedAt: 0, receivedAtMs: 0 };
  const group = { ...caller.group, multiplierPpm: 2_000_000n };
  const call = new Call(gateway, inbound, { ...caller, group }, chatCompletions(), rig.reply, null);
  call.request = requestOf(maxOutputTokens);
  call.price = isPriced ? priceOf(1_000_000n) : null;
  call.attempts.push(...outcomes.map(recordOf));
  return { call, finish };
}

const answered: CallEnd = { kind: 'answered', headers: [], bytes: new Uint8Array(0) };
const gone: CallEnd = { kind: 'caller-gone', begun: true };
const failed: CallEnd = { kind: 'failed', fault: fault('upstream_error'), begun: false };
const failedLate: CallEnd = { ...failed, begun: true };
const late: CallEnd = { kind: 'failed', fault: fault('upstream_timeout'), begun: false };
const spent = fault('insufficient_balance');

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
  test.each<readonly [string, readonly Outcome[], CallEnd, string, string | null, bigint]>([
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
    [
      'a limit of the caller, after content',
      [{ kind: 'over-limit', fault: spent, producedTokens: 0, ...begun }],
      { kind: 'failed', fault: spent, begun: true },
      'limit_reached',
      null,
      asEstimated,
    ],
    [
      'a limit of the caller, before content',
      [{ kind: 'over-limit', fault: spent, producedTokens: 0, ...notBegun }],
      { kind: 'failed', fault: spent, begun: false },
      'failed',
      'refused_by_gateway',
      0n,
    ],
    [
      'a limit of the caller, and then a bug of ours',
      [{ kind: 'over-limit', fault: spent, producedTokens: 0, ...begun }],
      failedLate,
      'failed',
      'refused_by_gateway',
      0n,
    ],
    ['a bug of ours', [{ kind: 'bug', ...notBegun }], failed, 'failed', 'refused_by_gateway', 0n],
  ])('%s', (_, outcomes, finish, status, unbilledReason, chargeNanoUsd) => {
    expect(entryOf(callOf(outcomes, finish))).toMatchObject({ status, unbilledReason, chargeNanoUsd });
  });
});

test('a model without a price is not billed, and the entry says so', () => {
  const call = callOf([{ kind: 'answered', reading: whole }], answered, { isPriced: false });
  expect(entryOf(call)).toMatchObject({
    status: 'complete',
    unbilledReason: 'unpriced_model',
    chargeNanoUsd: 0n,
  });
});

test('an estimate is never more than the caller allowed', () => {
  const call = callOf([{ kind: 'answered', reading: uncounted }], answered, { maxOutputTokens: 2 });
  expect(entryOf(call)).toMatchObject({ usage: { inputFresh: 7, output: 2 }, usageSource: 'estimated' });
});

test('what a failed attempt used is our cost', () => {
  const cut = { kind: 'cut', detail: 'reset', committed: true, reading: whole } as const;
  expect(entryOf(callOf([cut], failedLate))).toMatchObject({
    chargeNanoUsd: 0n,
    attempts: [{ result: 'cut_after_content', usage, costNanoUsd: 8n * 500n }],
  });
});

test('a cost that nobody knows is no zero where something was used', () => {
  const target = targetOf({ id: 'c1', cost: null });
  const costOf = (outcome: Outcome, end: CallEnd) => {
    const ended = callOf([], end);
    ended.call.attempts.push({ ...recordOf(outcome), target });
    return entryOf(ended).attempts[0]?.costNanoUsd;
  };
  expect(costOf({ kind: 'answered', reading: whole }, answered)).toBeNull();
  expect(costOf({ kind: 'unreachable', detail: 'refused', sent: false }, failed)).toBe(0n);
});

test('an entry that was not taken is not billed, whatever it says', () => {
  const entry = entryOf(callOf([{ kind: 'caller-gone', ...begun }], gone));
  expect(unsettledEntryOf(entry, gone)).toMatchObject({
    status: 'failed',
    unbilledReason: 'ledger_failed',
    chargeNanoUsd: 0n,
    errorCode: 'store_unavailable',
  });
});

test('durations are in microseconds, without the noise of floats', () => {
  expect(entryOf(callOf([{ kind: 'answered', reading: whole }], answered))).toMatchObject({
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
  const { call, finish } = callOf([], failed);
  call.attempts.push({ ...record, target: { ...record.target, channel } });
  const entry = entryFrom(call, finish);
  expect(entry.attempts[0]?.detail).toMatch(/^credential: No such key: \[key\], or No/);
  expect(entry.attempts[0]?.detail).not.toContain('canary');
  expect(entry.attempts[0]?.detail).toHaveLength(500);
});
