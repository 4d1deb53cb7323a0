import { expect, test } from 'vitest';
import { Hang } from './hang.ts';

test('a call waits on a hang from when both are there', () => {
  const hang = new Hang();
  expect(hang.waitedMs(0, 9000)).toBe(0);
  hang.timedOut(2000);
  hang.timedOut(1000);
  hang.timedOut(3000);
  expect(hang.waitedMs(0, 9000)).toBe(8000);
  expect(hang.waitedMs(5000, 9000)).toBe(4000);
});

test('it is over when a call answers that was sent since, and not when an earlier one does', () => {
  const hang = new Hang();
  hang.timedOut(1000);
  hang.began(999);
  expect(hang.waitedMs(0, 9000)).toBe(8000);
  hang.began(1000);
  expect(hang.waitedMs(0, 9000)).toBe(0);
});
