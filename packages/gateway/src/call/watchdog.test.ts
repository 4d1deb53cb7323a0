import { expect, test } from 'vitest';
import { guard, Watchdog } from './watchdog.ts';

function watchdogAt(start: number) {
  const clock = { now: () => 0, monotonic: () => clock.time, time: start };
  return { watchdog: new Watchdog(clock), clock };
}

test('a guard fires once, at the first sweep after its moment', () => {
  const { watchdog, clock } = watchdogAt(0);
  let fired = 0;
  const watched = guard(100, () => fired++);
  watchdog.watch(watched);
  clock.time = 99;
  watchdog.sweep();
  expect(fired).toBe(0);
  clock.time = 100;
  watchdog.sweep();
  watchdog.sweep();
  expect(fired).toBe(1);
});

test('a guard that is moved or released does not fire', () => {
  const { watchdog, clock } = watchdogAt(0);
  const fired: string[] = [];
  const guards = ['a', 'b', 'c', 'd'].map((name) => guard(10, () => fired.push(name)));
  for (const watched of guards) watchdog.watch(watched);
  const [a, b, , d] = guards;
  if (a === undefined || b === undefined || d === undefined) throw new Error('four guards');
  watchdog.release(a);
  watchdog.release(d);
  watchdog.release(a);
  b.expiresAt = 50;
  clock.time = 20;
  watchdog.sweep();
  expect(fired).toEqual(['c']);
  clock.time = 60;
  watchdog.sweep();
  expect(fired).toEqual(['c', 'b']);
});

test('a guard released by another one that fires in the same sweep stays silent', () => {
  const { watchdog, clock } = watchdogAt(0);
  let fired = 0;
  const second = guard(1, () => fired++);
  watchdog.watch(
    guard(1, () => {
      watchdog.release(second);
    }),
  );
  watchdog.watch(second);
  clock.time = 5;
  watchdog.sweep();
  expect(fired).toBe(0);
});

test('at the end of the process every guard fires', () => {
  const { watchdog, clock } = watchdogAt(0);
  let fired = 0;
  watchdog.watch(guard(Number.POSITIVE_INFINITY, () => fired++));
  watchdog.endsAt = 10;
  clock.time = 10;
  watchdog.sweep();
  expect(fired).toBe(1);
});
