import { expect, test } from 'vitest';
import { Hang } from './hang.ts';

function hanging(): Hang {
  const hang = new Hang();
  for (const startMs of [2000, 1000, 3000]) {
    expect(hang.waitedMs(0, 9000)).toBe(0);
    hang.timedOut(startMs);
  }
  return hang;
}

test('a call waits in vain from when both are there, the hang and the call', () => {
  expect(hanging().waitedMs(0, 9000)).toBe(8000);
  expect(hanging().waitedMs(5000, 9000)).toBe(4000);
});

test('it is over when a call answers that was sent since, and not when an earlier one does', () => {
  const hang = hanging();
  hang.began(999);
  expect(hang.waitedMs(0, 9000)).toBe(8000);
  hang.began(1000);
  expect(hang.waitedMs(0, 9000)).toBe(0);
  hang.timedOut(9000);
  expect(hang.waitedMs(0, 20_000)).toBe(0);
});
