import { describe, expect, test } from 'vitest';
import { targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Credential, Target } from '../catalogue/catalogue.ts';
import type { Outcome } from './outcomes.ts';
import { CallProgress } from './progress.ts';
import { brokenOff, refusedConnection, refusedWith, timedOut } from './route.fixture.ts';

const [a, b] = [targetOf({ id: 'a' }), targetOf({ id: 'b' })];

function endOn(progress: CallProgress, target: Target, outcome: Outcome, durationMs = 100, at = 0) {
  progress.noteTurn(target);
  progress.noteEnd({ target, outcome, durationMs }, target.channel.credentials[at] ?? null);
}

const leftAfter = (outcome: Outcome, durationMs = 100) => {
  const progress = new CallProgress(3);
  endOn(progress, a, outcome, durationMs);
  return progress.forNext(false).attemptsLeft;
};

describe('an attempt costs', () => {
  test.each<readonly [string, Outcome, number, number]>([
    ['a rate limit at once', refusedWith('rate-limited'), 100, 2.5],
    ['an error of the server at once', refusedWith('server-error'), 999, 2.5],
    ['an error of the server after a second', refusedWith('server-error'), 1000, 2],
    ['no connection at once', refusedConnection, 100, 2.5],
    ['silence', timedOut('first-content'), 100, 2],
    ['an answer that broke off', brokenOff, 100, 2],
  ])('after %s', (_, outcome, durationMs, left) => {
    expect(leftAfter(outcome, durationMs)).toBe(left);
  });

  test('a whole one when the same is asked again', () => {
    const progress = new CallProgress(3);
    for (let n = 0; n < 2; n++) endOn(progress, a, refusedConnection);
    expect(progress.forNext(true).attemptsLeft).toBe(1.5);
  });

  test('no more than there are', () => {
    const progress = new CallProgress(1);
    endOn(progress, a, refusedConnection);
    expect(progress.mayGoOn()).toBe(true);
    endOn(progress, b, refusedConnection);
    expect(progress.mayGoOn()).toBe(false);
  });
});

describe('a call goes on', () => {
  test('once after a conflict', () => {
    const progress = new CallProgress(9);
    endOn(progress, a, refusedWith('conflict'));
    expect(progress.mayGoOn()).toBe(true);
    endOn(progress, b, refusedWith('conflict'));
    expect(progress.mayGoOn()).toBe(false);
  });

  test.each<readonly [number | null, number]>([
    [8000, 8000],
    [null, 0],
  ])(
    'when it is too long for a channel that takes %s: to one that takes more, and to one that may, once',
    (contextWindow, above) => {
      const progress = new CallProgress(3);
      endOn(progress, { ...a, contextWindow }, refusedWith('context-length'));
      expect(progress.mayGoOn()).toBe(true);
      expect(progress.forNext(false).tooLong).toEqual({ above, unknownToo: true });
      endOn(progress, { ...b, contextWindow: null }, refusedWith('context-length'));
      expect(progress.forNext(false).tooLong).toEqual({ above, unknownToo: false });
    },
  );

  test('after what may be done once only was not done, and then alone', () => {
    const progress = new CallProgress(3, false);
    expect([progress.mayHedge, progress.sharers(5)]).toEqual([false, 1]);
    endOn(progress, a, refusedConnection);
    expect(progress.mayGoOn()).toBe(true);
    endOn(progress, b, refusedWith('server-error'));
    expect(progress.mayGoOn()).toBe(false);
  });
});

describe('of what was asked', () => {
  const two: readonly Credential[] = [
    { id: 'k1', secret: 's1' },
    { id: 'k2', secret: 's2' },
  ];
  const keyed: Target = { ...a, channel: { ...a.channel, credentials: two } };

  test('a credential that was refused leaves its channel to the others', () => {
    const progress = new CallProgress(3);
    endOn(progress, keyed, refusedWith('rate-limited'));
    const { tried, refused } = progress.forNext(false);
    expect([[...tried], [...(refused ?? [])]]).toEqual([[], [two[0]]]);
  });

  test('a channel that failed is not asked again with another credential', () => {
    const progress = new CallProgress(3);
    endOn(progress, keyed, refusedWith('overloaded'));
    const { tried, refused } = progress.forNext(false);
    expect([[...tried], [...(refused ?? [])]]).toEqual([['a'], []]);
  });

  test('the only channel may be asked again, none of several', () => {
    const progress = new CallProgress(3);
    expect(progress.forNext(false).again).toEqual({ channelId: null, isDue: false });
    endOn(progress, a, refusedConnection);
    expect(progress.forNext(true).again).toEqual({ channelId: 'a', isDue: true });
    endOn(progress, b, refusedConnection);
    expect(progress.forNext(true).again).toBeNull();
  });
});

test('all waits of a call together take five seconds', () => {
  const progress = new CallProgress(3);
  expect(progress.mayWait(5000)).toBe(true);
  progress.noteWait(4000);
  expect([progress.mayWait(1000), progress.mayWait(1001)]).toEqual([true, false]);
});

test('the time left is shared by the attempts left and the channels left', () => {
  const progress = new CallProgress(3);
  expect([progress.sharers(0), progress.sharers(1), progress.sharers(9)]).toEqual([1, 2, 3]);
  endOn(progress, a, refusedConnection);
  expect(progress.sharers(9)).toBe(3);
  expect(progress.forHedge().attemptsLeft).toBe(1.5);
});
