import { expect, test } from 'vitest';
import { Throttle } from './throttle.ts';

function at(): { throttle: Throttle; pass(ms: number): void } {
  let nowMs = 1_000_000;
  return { throttle: new Throttle(() => nowMs), pass: (ms) => (nowMs += ms) };
}

test('who fails five times waits, and twice as long each time, up to a quarter of an hour', () => {
  const { throttle, pass } = at();
  for (let n = 0; n < 5; n++)
    expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' })).toBeNull();
  const waits: number[] = [];
  for (let n = 0; n < 12; n++) {
    const waitMs = throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' }) ?? 0;
    waits.push(waitMs);
    pass(waitMs);
    expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' })).toBeNull();
  }
  expect(waits.slice(0, 3)).toEqual([2_000, 4_000, 8_000]);
  expect(waits.at(-1)).toBe(900_000);
});

test('whoever guesses at one person keeps nobody else away, nor them from their own place', () => {
  const { throttle } = at();
  for (let n = 0; n < 6; n++) throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' });
  expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ADA' })).not.toBeNull();
  expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'grace' })).toBeNull();
  expect(throttle.take({ kind: 'password', address: '198.51.100.7', login: 'ada' })).toBeNull();
  expect(throttle.take({ kind: 'totp', address: '192.0.2.1', login: 'ada' })).toBeNull();
});

test('who tries many people from one place is stopped, all of a line of IPv6 together', () => {
  const { throttle } = at();
  for (let n = 0; n < 30; n++)
    throttle.take({ kind: 'password', address: `2001:db8:1:2::${n}`, login: `person-${n}` });
  expect(
    throttle.take({ kind: 'password', address: '2001:db8:1:2::ffff', login: 'somebody' }),
  ).not.toBeNull();
  expect(throttle.take({ kind: 'password', address: '2001:db8:1:3::1', login: 'somebody' })).toBeNull();
  for (let n = 0; n < 30; n++)
    throttle.take({ kind: 'password', address: `2001:db8::${n}`, login: `person-${n}` });
  expect(throttle.take({ kind: 'password', address: '2001:db8::5:6:7:8', login: 'somebody' })).not.toBeNull();
});

test('guesses at one person from many places are slowed, for a minute at the most', () => {
  const { throttle } = at();
  for (let n = 0; n < 100; n++) throttle.take({ kind: 'password', address: `192.0.${n}.1`, login: 'ada' });
  const waitMs = throttle.take({ kind: 'password', address: '203.0.113.9', login: 'ada' }) ?? 0;
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(60_000);
});

test('who was right begins anew, and whoever is remembered is bounded', () => {
  const { throttle, pass } = at();
  for (let n = 0; n < 40; n++) {
    expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' })).toBeNull();
    throttle.forgive({ kind: 'password', address: '192.0.2.1', login: 'ada' });
  }
  for (let n = 0; n < 5; n++) throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' });
  pass(3_600_001);
  expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' })).toBeNull();
  expect(throttle.take({ kind: 'password', address: '192.0.2.1', login: 'ada' })).toBeNull();
});
