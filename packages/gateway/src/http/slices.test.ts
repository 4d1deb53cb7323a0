import { expect, test } from 'vitest';
import { Slices } from './slices.ts';

test('one slice of one body is worked on in a turn of the event loop', async () => {
  const slices = new Slices();
  const order: string[] = [];
  const sliced = (name: string, count: number) =>
    new Promise<void>((resolve) => {
      let left = count;
      slices.work(() => {
        order.push(name);
        return --left > 0;
      }, resolve);
    });
  let turns = 0;
  const count = (): void => {
    turns++;
    if (order.length < 6) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all([sliced('a', 3), sliced('b', 1), sliced('c', 2)]);
  expect(order).toEqual(['a', 'b', 'c', 'a', 'c', 'a']);
  expect(turns).toBeGreaterThanOrEqual(6);
});

test('work that is given while another ends begins as well', async () => {
  const slices = new Slices();
  const done: string[] = [];
  await new Promise<void>((resolve) => {
    slices.work(
      () => false,
      () => {
        done.push('first');
        slices.work(
          () => false,
          () => {
            done.push('second');
            resolve();
          },
        );
      },
    );
  });
  expect(done).toEqual(['first', 'second']);
});
