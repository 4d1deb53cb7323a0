import { expect, test } from 'vitest';
import { readRetryDelayMs } from '../refusal.ts';
import { generateContent } from './index.ts';

const encoder = new TextEncoder();
const error = (code: number, status: string, message: string, details?: readonly object[]) =>
  encoder.encode(JSON.stringify({ error: { code, message, status, details } }));

test.each([
  [400, 'INVALID_ARGUMENT', 'Unknown name "foo": Cannot find field.', 'invalid-request'],
  [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'credential'],
  [
    400,
    'INVALID_ARGUMENT',
    'The input token count (9) exceeds the maximum number of tokens allowed (8).',
    'context-length',
  ],
  [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', 'credential'],
  [401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', 'credential'],
  [403, 'PERMISSION_DENIED', 'Your project has been denied access.', 'credential'],
  [403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)', 'answer-missing'],
  [404, 'NOT_FOUND', 'Cached content 285 is not found.', 'answer-missing'],
  [404, 'NOT_FOUND', 'Not found: cached content metadata for 285.', 'answer-missing'],
  [404, 'NOT_FOUND', 'models/m is not found for API version v1beta.', 'model-missing'],
  [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', 'rate-limited'],
  [500, 'INTERNAL', 'An internal error has occurred.', 'server-error'],
  [503, 'UNAVAILABLE', 'The model is overloaded.', 'overloaded'],
  [504, 'DEADLINE_EXCEEDED', 'Deadline expired.', 'server-error'],
])('%i %s %j is %s', (code, status, message, kind) => {
  const refusal = generateContent.readRefusal(code, error(code, status, message));
  expect(refusal).toMatchObject({ kind, status: code, message, type: status });
});

test.each(['data: ', 'data:', 'event: error\ndata: '])(
  'an error framed as an event is read: %j',
  (prefix) => {
    const body = new TextDecoder().decode(error(503, 'UNAVAILABLE', 'The model is overloaded.'));
    const refusal = generateContent.readRefusal(503, encoder.encode(`${prefix}${body}\r\n\r\n`));
    expect(refusal).toMatchObject({ kind: 'overloaded', message: 'The model is overloaded.' });
  },
);

const retryInfo = (retryDelay: unknown) => [{ reason: 'RATE_LIMIT_EXCEEDED' }, { retryDelay }];

test.each([
  [retryInfo('34.4s'), 34_400],
  [retryInfo('2s'), 2_000],
  [retryInfo('0.0001s'), 1],
  [retryInfo('soon'), null],
  [retryInfo(2), null],
  [undefined, null],
])('of the details %j the delay is %j ms', (details, delayMs) => {
  const body = error(429, 'RESOURCE_EXHAUSTED', 'Slower', details);
  expect(readRetryDelayMs(body)).toBe(delayMs);
  expect(readRetryDelayMs(encoder.encode(`[${new TextDecoder().decode(body)}]`))).toBe(delayMs);
});

test.each(['', '<html>', '{"error":"no"}', '[]'])('%j tells no delay', (body) => {
  expect(readRetryDelayMs(encoder.encode(body))).toBeNull();
});
