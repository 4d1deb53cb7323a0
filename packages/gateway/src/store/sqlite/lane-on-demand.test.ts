import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../ports/store.ts';
import { LaneOnDemand } from './lane-on-demand.ts';
import type { StoreLane } from './worker-lane.ts';

const notLost = () => Promise.resolve(null);

/** A lane that answers every job with its own number. */
function laneOf(number: number) {
  const lane = { hasDied: false, isClosed: false };
  // No job of these tests looks at its result.
  const run = (() => Promise.resolve(number)) as unknown as StoreLane['run'];
  const close = () => {
    lane.isClosed = true;
    return Promise.resolve();
  };
  return Object.assign(lane, { run, close });
}

test('a lane is opened by its first job, once, and again when it has died', async () => {
  const opened: ReturnType<typeof laneOf>[] = [];
  const lane = new LaneOnDemand(() => {
    const next = laneOf(opened.length);
    opened.push(next);
    return next;
  }, notLost);
  expect(opened).toHaveLength(0);
  expect([await lane.run('revision', () => []), await lane.run('revision', () => [])]).toEqual([0, 0]);
  const [first] = opened;
  if (first !== undefined) first.hasDied = true;
  expect(await lane.run('revision', () => [])).toBe(1);
  await lane.close();
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, true]);
  await expect(lane.run('revision', () => [])).rejects.toThrow(StoreUnavailable);
});

test('one that nobody has asked for is closed without being opened', async () => {
  const lane = new LaneOnDemand(() => {
    throw new Error('it is not needed');
  }, notLost);
  await lane.close();
});

test('one is not used that may have opened another store than the others have, and opened anew when that is back', async () => {
  const opened: ReturnType<typeof laneOf>[] = [];
  const looks = [null, new Error('it is gone'), new Error('it is gone'), null, null];
  const lane = new LaneOnDemand(
    () => {
      const next = laneOf(opened.length);
      opened.push(next);
      return next;
    },
    () => Promise.resolve(looks.shift() ?? null),
  );
  // Lost while it was opened, and lost before.
  await expect(Promise.all([lane.run('revision', () => []), lane.run('load', () => [0])])).rejects.toThrow(
    'it is gone',
  );
  await expect(lane.run('revision', () => [])).rejects.toThrow(StoreUnavailable);
  expect(await lane.run('revision', () => [])).toBe(2);
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
  await lane.close();
});
