import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

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
