import { expect, test } from 'vitest';
import { CatchUp, catchUpBy } from './catch-up.ts';

const whole = { asOfMs: null, isHopeless: false, targets: null } as const;

test('steps go on until the store has all, or it is of no use', async () => {
  let steps = 0;
  const behind = { ...whole, asOfMs: 5 };
  expect(await catchUpBy(() => (++steps < 3 ? behind : whole))).toBeNull();
  expect(steps).toBe(3);
  expect(await catchUpBy(() => ({ ...behind, isHopeless: true }))).toBe(5);
});

test('the targets of the first step are those of all', async () => {
  const targets = new Map([[1n, 7]]);
  const given: unknown[] = [];
  await catchUpBy((known) => {
    given.push(known);
    return given.length < 3 ? { asOfMs: 5, isHopeless: false, targets } : whole;
  });
  expect(given).toEqual([null, targets, targets]);
});

test('however many ask, all who come while it is under way share the next time', async () => {
  let times = 0;
  const finished: (() => void)[] = [];
  const catchUp = new CatchUp(() => {
    times++;
    return new Promise((resolve) => finished.push(() => resolve(whole)));
  });
  const first = catchUp.ask();
  const others = Array.from({ length: 500 }, () => catchUp.ask());
  finished.shift()?.();
  expect(await first).toBeNull();
  await expect.poll(() => finished.length).toBe(1);
  finished.shift()?.();
  await Promise.all(others);
  expect(times).toBe(2);
});

test('a step that fails fails for those who waited, and the next time is tried anew', async () => {
  let times = 0;
  const catchUp = new CatchUp(() => (++times === 1 ? Promise.reject(new Error('locked')) : whole));
  const asked = [catchUp.ask(), catchUp.ask()];
  expect(await Promise.allSettled(asked)).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }]);
});
