import { expect, test } from 'vitest';
import { readHeadroom, readLimits } from './rate-limits.ts';

const nowMs = Date.UTC(2026, 0, 1);
const read = (headers: Readonly<Record<string, string>>) =>
  readLimits(new Map(Object.entries(headers)), nowMs);
const headroom = (headers: Readonly<Record<string, string>>) =>
  readHeadroom(new Map(Object.entries(headers)), nowMs);

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
  expect(read({ [remaining]: '7', [reset]: text, date: '1' })).toEqual([
    { unit, remaining: 7, resetMs: 6000 },
  ]);
});

test('nonsense, and what is no limit, says nothing', () => {
  expect(read({ 'x-ratelimit-limit-requests': '7', 'ratelimit-policy': '7', 'x-request-id': '1' })).toEqual(
    [],
  );
  expect(read({ 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': 'soon' })).toEqual([
    { unit: 'requests', remaining: null, resetMs: null },
  ]);
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
