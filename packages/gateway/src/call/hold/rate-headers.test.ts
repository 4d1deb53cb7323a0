import { expect, test } from 'vitest';
import type { Standing } from '../../ports/holds.ts';
import { ownerOf } from './holds.fixture.ts';
import { durationText, momentText, rateHeaders } from './rate-headers.ts';

const nowMs = Date.UTC(2026, 10, 23);

function standing(more: Partial<Standing>): Standing {
  const usual = { owner: 'key', id: 'key', kind: 'requests-per-minute', model: null } as const;
  return { ...usual, amount: 60n, remaining: 10n, resetsAtMs: nowMs + 6_000, ...more };
}

const tokens = standing({ kind: 'tokens-per-minute', amount: 9_000n, remaining: 8n, resetsAtMs: null });

test('each surface has the spelling that its SDKs read', () => {
  const all = [standing({}), tokens];
  expect(rateHeaders('completions', all, [], nowMs)).toEqual([
    ...['x-ratelimit-limit-requests', '60', 'x-ratelimit-remaining-requests', '10'],
    ...['x-ratelimit-reset-requests', '6s', 'x-ratelimit-limit-tokens', '9000'],
    ...['x-ratelimit-remaining-tokens', '8', 'x-ratelimit-reset-tokens', '0s'],
  ]);
  expect(rateHeaders('messages', [standing({})], [], nowMs)).toEqual([
    ...['neutral-ratelimit-requests-limit', '60', 'neutral-ratelimit-requests-remaining', '10'],
    ...['neutral-ratelimit-requests-reset', '2026-11-23T00:00:06Z'],
    ...['anthropic-ratelimit-requests-limit', '60', 'anthropic-ratelimit-requests-remaining', '10'],
    ...['anthropic-ratelimit-requests-reset', '2026-11-23T00:00:06Z'],
  ]);
  expect(rateHeaders('native', [tokens], [], nowMs)).toContain('x-ratelimit-remaining-tokens');
});

test('of several limits the one is told that has the least left, or that was reached', () => {
  const day = standing({ kind: 'requests-per-day', amount: 1_000n, remaining: 4n });
  const remaining = (reached: Standing | null) =>
    rateHeaders('completions', [standing({}), day], [], nowMs, reached)[3];
  expect(remaining(null)).toBe('4');
  expect(remaining(standing({}))).toBe('10');
});

test('amounts that others share are told only where they are shown', () => {
  const ofAccount = standing({ owner: 'account', id: 'account' });
  const headersFor = (isShown: boolean) =>
    rateHeaders('completions', [ofAccount], [ownerOf({ owner: 'account', isShown })], nowMs);
  expect(headersFor(false)).toEqual([]);
  expect(headersFor(true)).toHaveLength(6);
  expect(rateHeaders('completions', [], [ownerOf({ owner: 'account' })], nowMs, ofAccount)).toEqual([]);
});

test('places for concurrent calls and money have no headers', () => {
  const others = [standing({ kind: 'concurrent-calls' }), standing({ kind: 'day' })];
  expect(rateHeaders('completions', others, [], nowMs)).toEqual([]);
});

test.each([
  [0, '0s'],
  [120, '120ms'],
  [0.2, '1ms'],
  [8_640, '8.64s'],
  [60_000, '1m0s'],
  [360_000, '6m0s'],
  [7_205_000, '2h0m5s'],
])('%d ms is %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

test('a moment is never told too early', () => {
  expect(momentText(nowMs + 1)).toBe('2026-11-23T00:00:01Z');
});
