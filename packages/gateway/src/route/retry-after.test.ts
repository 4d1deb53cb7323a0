import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHeadroom, readLimits, readWait, retryAfterMs } from './retry-after.ts';

const nowMs = Date.UTC(1994, 10, 6, 8, 49, 7);

function read(headers: Readonly<Record<string, string>>, status = 429): number | null {
  return retryAfterMs({ status, headers: new Map(Object.entries(headers)) }, nowMs);
}

describe('retry-after', () => {
  test.each([
    ['7', 7000],
    [' 7 ', 7000],
    ['0.3', 300],
    ['0', 0],
    ['99999', 3_600_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['6m0s', 360_000],
    ['12ms', 12],
    ['1994-11-06T08:49:37Z', 30_000],
    ['9'.repeat(400), 3_600_000],
  ])('%s', (text, waitMs) => {
    expect(read({ 'retry-after': text })).toBe(waitMs);
    expect(read({ 'retry-after': text }, 503)).toBe(waitMs);
  });

  test.each([
    '',
    'soon',
    '-5',
    'foo 5',
    '1e3',
    '1994-11-06',
    'Sun, 99 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0100',
  ])('nonsense says nothing: %j', (text) => {
    expect(read({ 'retry-after': text })).toBeNull();
  });

  test('milliseconds are more exact, if they are a number', () => {
    expect(read({ 'retry-after-ms': '1500', 'retry-after': '2' })).toBe(1500);
    expect(read({ 'retry-after-ms': 'x', 'retry-after': '2' })).toBe(2000);
  });
});

describe('x-ratelimit-reset-*', () => {
  test.each([
    ['6m0s', 360_000],
    ['12ms', 12],
    ['8.64s', 8640],
    ['1h2m3.5s', 3_600_000],
    ['1994-11-06T08:49:37Z', 30_000],
    ['1994-11-06T09:49:08.5+01:00', 1500],
    ['17', 17_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['never', null],
    ['', null],
    ['6m0', null],
    ['-5s', null],
  ])('%s', (text, waitMs) => {
    expect(read({ 'x-ratelimit-reset-requests': text })).toBe(waitMs);
    expect(read({ 'x-ratelimit-reset-tokens': text })).toBe(waitMs);
  });

  test('the later of the limits of which nothing is left', () => {
    const resets = { 'x-ratelimit-reset-requests': '2s', 'x-ratelimit-reset-tokens': '9s' };
    expect(read(resets)).toBe(9000);
    expect(read({ ...resets, 'x-ratelimit-remaining-tokens': '50' })).toBe(2000);
    expect(read({ ...resets, 'x-ratelimit-remaining-tokens': '0' })).toBe(9000);
  });

  test('says nothing beside retry-after, or where nothing was refused for its rate', () => {
    expect(read({ 'x-ratelimit-reset-requests': '9s', 'retry-after': '2' })).toBe(2000);
    expect(read({ 'x-ratelimit-reset-requests': '9s' }, 500)).toBeNull();
  });
});

test('whatever the headers say, the wait is a whole number from 0 to an hour', () => {
  const text = fc.oneof(fc.string(), fc.date({ noInvalidDate: true }).map(String), fc.double().map(String));
  fc.assert(
    fc.property(text, text, text, (after, afterMs, reset) => {
      const waitMs = read({
        'retry-after': after,
        'retry-after-ms': afterMs,
        'x-ratelimit-reset-tokens': reset,
      });
      return waitMs === null || (Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= 3_600_000);
    }),
  );
});

const clockMs = Date.UTC(2026, 0, 1);

test.each([
  [`${clockMs / 1000 + 60}`, 60_000],
  [`${clockMs / 1000 + 0.5}`, 500],
  [`${clockMs + 60_000}`, 60_000],
  [`${clockMs / 1000 - 60}`, 0],
  ['2147483647', 3_600_000],
  ['2000', 2_000_000],
])('a number is a time since 1970 where it is too long for a wait: %s', (text, waitMs) => {
  expect(readWait(text, clockMs)).toBe(waitMs);
});

test.each(['1e12', '-3', 'Infinity', 'NaN', '0x10', '1m-3s', '2026-99-01T00:00:00Z'])(
  '%s is none',
  (text) => {
    expect(readWait(text, clockMs)).toBeNull();
  },
);

const limitsOf = (headers: Readonly<Record<string, string>>) =>
  readLimits(new Map(Object.entries(headers)), clockMs);
const headroom = (headers: Readonly<Record<string, string>>) =>
  readHeadroom(new Map(Object.entries(headers)), clockMs);

test.each([
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests', '6s', 'requests'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens', '6000ms', 'tokens'],
  [
    'vendor-ratelimit-requests-remaining',
    'vendor-ratelimit-requests-reset',
    '2026-01-01T00:00:06Z',
    'requests',
  ],
  [
    'vendor-ratelimit-input-tokens-remaining',
    'vendor-ratelimit-input-tokens-reset',
    '2026-01-01T00:00:06Z',
    'input-tokens',
  ],
  ['ratelimit-remaining', 'ratelimit-reset', '6', 'requests'],
])('%s', (remaining, reset, text, unit) => {
  expect(limitsOf({ [remaining]: '7', [reset]: text, date: '1' })).toEqual([
    { unit, remaining: 7, resetMs: 6000 },
  ]);
});

test('nonsense, and what is no limit, says nothing', () => {
  expect(
    limitsOf({ 'x-ratelimit-limit-requests': '7', 'ratelimit-policy': '7', 'x-request-id': '1' }),
  ).toEqual([]);
  expect(
    limitsOf({ 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': 'soon' }),
  ).toEqual([{ unit: 'requests', remaining: null, resetMs: null }]);
});

test('the headroom is the least of what is left of each, until its own reset', () => {
  const tokens = { 'x-ratelimit-remaining-tokens': '900', 'x-ratelimit-reset-tokens': '9s' };
  expect(headroom(tokens)).toEqual({ requests: null, tokens: { left: 900, resetMs: 9000 } });
  const requests = { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '6s' };
  const input = { 'x-ratelimit-input-tokens-remaining': '70', 'x-ratelimit-input-tokens-reset': '4s' };
  expect(headroom({ ...tokens, ...requests, ...input })).toEqual({
    requests: { left: 3, resetMs: 6000 },
    tokens: { left: 70, resetMs: 4000 },
  });
});

test('there is none where no reset is named: it would never end', () => {
  expect(headroom({ 'x-ratelimit-remaining-tokens': '0' })).toBeNull();
  expect(headroom({})).toBeNull();
});
