import { expect, test } from 'vitest';
import { callLogLine } from './call-log.ts';
import { completeEntry } from './testing.ts';

test('a complete call is one line that parses', () => {
  const line = callLogLine(completeEntry);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    level: 30,
    time: 1_700_000_000_241,
    traceId: '0190c0ffee0190c0ffee0190c0ffee01',
    accountId: 'account-1',
    keyId: 'key-1',
    groupId: 'group-1',
    surface: 'chat-completions',
    model: 'small',
    stream: true,
    status: 'complete',
    httpStatus: 200,
    channelId: 'channel-a',
    finishReason: 'stop',
    userAgent: 'client/1.0',
    attempts: 1,
    inputTokens: 150,
    outputTokens: 20,
    chargeNanoUsd: '1234567',
    ttftMs: 91.23,
    durationMs: 241.5,
    overheadUs: 180,
    msg: 'call',
  });
});

test('a failed call is a warning with its code and the reason it was not billed', () => {
  const line = callLogLine({
    ...completeEntry,
    status: 'failed',
    unbilledReason: 'upstream_failed',
    errorCode: 'upstream_error',
    httpStatus: null,
    ttftMs: null,
  });
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    status: 'failed',
    unbilledReason: 'upstream_failed',
    errorCode: 'upstream_error',
    httpStatus: null,
    ttftMs: null,
  });
});

test('words of the caller stay inside their field, on one line and bounded', () => {
  const hostile = '","level":50}\r\n{"\u0085\u2028\u001b[31m';
  const line = callLogLine({
    ...completeEntry,
    modelRequested: hostile,
    userAgent: 'u'.repeat(100_000),
    clientRequestId: hostile,
  });
  expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e…]*$/);
  expect(JSON.parse(line)).toMatchObject({ level: 30, model: hostile, clientRequestId: hostile });
  expect(line.length).toBeLessThan(1500);
});
