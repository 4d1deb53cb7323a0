import { expect, test } from 'vitest';
import { SessionMemory, sessionPrice, warmTokens } from './affinity.ts';
import { TargetState } from './target-state.ts';

const rates = { aboveInputTokens: 0, input: 10, cacheRead: 1, cacheWrite: 12, output: 50, perCall: 3 };
const sizes = { inputTokens: 1000, outputTokens: 100 };
const said = 3 + 100 * 50;

function visited(writes = false) {
  const memory = new SessionMemory();
  const state = new TargetState();
  state.cacheShare = 1;
  memory.note('s', state, { prefixTokens: 800, usedMs: 0 }, writes);
  return { memory, state, session: memory.find('s') };
}

test('without a session a call costs its plain price', () => {
  expect(sessionPrice(rates, sizes, null, new TargetState(), 0)).toBe(said + 10_000);
  expect(visited().memory.find(null)).toBeNull();
  expect(visited().memory.find('other')).toBeNull();
});

test('where it has been a session is cheaper, by what is warm and this turn in three', () => {
  const { session, state } = visited();
  const elsewhere = new TargetState();
  elsewhere.cacheShare = 1;
  const warm = sessionPrice(rates, sizes, session, state, 1000);
  const cold = sessionPrice(rates, sizes, session, elsewhere, 1000);
  expect(warm).toBeCloseTo(said + (800 + 200 * 10 + 2 * 1000) / 3);
  expect(cold - warm).toBeCloseTo((800 * 9) / 3);
});

test('a session that writes to caches pays for what it writes', () => {
  const { session } = visited(true);
  const elsewhere = new TargetState();
  elsewhere.cacheShare = 0;
  expect(sessionPrice(rates, sizes, session, elsewhere, 0)).toBeCloseTo(said + 12_000);
});

test('five minutes later nothing is warm, and what is never found cached never was', () => {
  const { session, state } = visited();
  expect([300_000, 300_001].map((nowMs) => warmTokens(session, state, nowMs))).toEqual([800, 0]);
  for (let n = 0; n < 100; n++) state.foundCached(0);
  expect(warmTokens(session, state, 0)).toBeCloseTo(0, 1);
});

test('the sessions used longest ago are forgotten, and places of one as well', () => {
  const { memory, state } = visited();
  for (let n = 0; n < 50_000; n++) memory.note(`${n}`, state, { prefixTokens: 1, usedMs: n }, false);
  expect([memory.find('s'), memory.find('0')?.places.size]).toEqual([null, 1]);
  for (let n = 0; n < 9; n++) memory.note('0', new TargetState(), { prefixTokens: 1, usedMs: n }, false);
  expect(memory.find('0')?.places.size).toBe(4);
});
