import { expect, test } from 'vitest';
import { traceIds } from './exchange.ts';

test('ids are UUIDs of version 7 without dashes, all different, and begin with the time', () => {
  let nowMs = 0x0123_4567_89ab;
  const next = traceIds(() => nowMs);
  const ids = Array.from({ length: 2000 }, next);
  for (const id of ids) expect(id).toMatch(/^0123456789ab7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  expect(new Set(ids).size).toBe(ids.length);
  nowMs += 1;
  expect(next().slice(0, 12)).toBe('0123456789ac');
});
