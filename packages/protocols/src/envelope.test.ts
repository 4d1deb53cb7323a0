import { describe, expect, test } from 'vitest';
import { parseAs } from './bytes/json-text.fixture.ts';
import { encodeError, encodeStreamEnvelope } from './envelope.ts';
import { type ErrorCode, errorTable, fault, type Platform } from './error.ts';

const decoder = new TextDecoder();
const traceId = '0192f3a4b5c67d8e9f00112233445566';
const platforms: readonly Platform[] = ['completions', 'messages', 'native'];
const codes = Object.keys(errorTable).filter((code): code is ErrorCode => code in errorTable);

interface Envelope {
  readonly type?: string;
  readonly error: Readonly<Record<'message' | 'type' | 'code' | 'status', unknown>>;
}

const body = (platform: Platform, code: ErrorCode, detail = {}) =>
  parseAs<Envelope>(decoder.decode(encodeError(platform, fault(code, detail), traceId).body));

describe('encodeError', () => {
  test.each(platforms)('a wrong key reads the same on %s', (platform) => {
    const { error, ...around } = body(platform, 'invalid_api_key');
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      trace_id: traceId,
    });
    expect(error.message).toBe(errorTable.invalid_api_key.text);
    expect(error.status).toBe(platform === 'native' ? 'UNAUTHENTICATED' : undefined);
    expect(around.type).toBe(platform === 'messages' ? 'error' : undefined);
  });

  test('completions: all four members, the parameter named', () => {
    const detail = { message: "'n' must be whole", param: 'n' };
    expect(body('completions', 'invalid_request', detail)).toEqual({
      error: {
        message: "'n' must be whole",
        type: 'invalid_request_error',
        param: 'n',
        code: 'invalid_request',
        trace_id: traceId,
      },
    });
  });

  test('messages: typed, with the request id', () => {
    expect(body('messages', 'rate_limited')).toEqual({
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: errorTable.rate_limited.text,
        param: null,
        code: 'rate_limited',
        trace_id: traceId,
      },
      request_id: traceId,
    });
  });

  test('native: a limit is named, and how long to wait, where its clients read it', () => {
    const limit = { kind: 'requests-per-day', owner: 'key', model: 'm' };
    expect(body('native', 'rate_limited', { retryAfterMs: 1_200, limit }).error).toMatchObject({
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      reason: 'rate_limited',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [
            {
              subject: 'key',
              quotaMetric: 'requests-per-day',
              quotaId: 'RequestsPerDay',
              quotaDimensions: { model: 'm' },
            },
          ],
        },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2s' },
      ],
    });
    expect(body('native', 'rate_limited').error).not.toHaveProperty('details');
    expect(body('native', 'overloaded', { retryAfterMs: 1 }).error).toMatchObject({
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }],
    });
  });

  test('messages: a thread is refused in the words that let the official SDK go on without', () => {
    expect(body('messages', 'thread_unsupported_request', { param: 'thread' }).error).toMatchObject({
      type: 'invalid_request_error',
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
  });

  test('native: the status as number and word', () => {
    expect(body('native', 'model_not_found').error).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      reason: 'model_not_found',
    });
  });

  test.each([
    ['model_not_found', 'invalid_request_error', 'not_found_error', 'NOT_FOUND'],
    ['insufficient_balance', 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'],
    ['upstream_rate_limited', 'rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
    ['payload_too_large', 'invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
    ['overloaded', 'service_unavailable_error', 'overloaded_error', 'UNAVAILABLE'],
    ['upstream_error', 'server_error', 'api_error', 'UNAVAILABLE'],
    ['upstream_timeout', 'server_error', 'timeout_error', 'DEADLINE_EXCEEDED'],
    ['internal', 'server_error', 'api_error', 'INTERNAL'],
    ['method_not_allowed', 'invalid_request_error', 'invalid_request_error', 'UNIMPLEMENTED'],
  ] as const)('%s is %s, %s and %s', (code, completions, messages, native) => {
    expect(body('completions', code).error.type).toBe(completions);
    expect(body('messages', code).error.type).toBe(messages);
    expect(body('native', code).error.status).toBe(native);
  });

  test("an upstream's own status and code go through", () => {
    const detail = { status: 422, upstreamCode: 'context_length_exceeded' };
    expect(encodeError('completions', fault('upstream_invalid_request', detail), traceId).status).toBe(422);
    expect(body('completions', 'upstream_invalid_request', detail).error.code).toBe(
      'context_length_exceeded',
    );
  });

  test.each(platforms)('%s has words for every error', (platform) => {
    for (const code of codes) {
      const { error } = body(platform, code);
      expect(error.message).toBe(errorTable[code].text);
      expect(String(platform === 'native' ? error.status : error.type)).toMatch(/^[A-Za-z_]+$/);
    }
  });
});

test('an error within a stream is an event of its own, with nothing after it', () => {
  const failure = fault('upstream_error');
  const frame = decoder.decode(encodeStreamEnvelope('completions', failure, traceId));
  expect(frame).toMatch(/^data: \{"error":\{.*\}\}\n\n$/);
  expect(decoder.decode(encodeStreamEnvelope('messages', failure, traceId))).toMatch(
    /^event: error\ndata: \{"type":"error".*\}\n\n$/,
  );
});
