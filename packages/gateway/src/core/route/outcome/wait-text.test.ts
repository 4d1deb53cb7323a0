import { expect, test } from 'vitest';
import { readWait } from './wait-text.ts';

const nowMs = Date.UTC(2026, 0, 1);

test.each([
  [`${nowMs / 1000 + 60}`, 60_000],
  [`${nowMs / 1000 + 0.5}`, 500],
  [`${nowMs + 60_000}`, 60_000],
  [`${nowMs / 1000 - 60}`, 0],
  ['2147483647', 3_600_000],
  ['2000', 2_000_000],
])('a number is a time since 1970 where it is too long for a wait: %s', (text, waitMs) => {
  expect(readWait(text, nowMs)).toBe(waitMs);
});

test.each(['1e12', '-3', 'Infinity', 'NaN', '0x10', '1m-3s', '2026-99-01T00:00:00Z'])(
  '%s is none',
  (text) => {
    expect(readWait(text, nowMs)).toBeNull();
  },
);
