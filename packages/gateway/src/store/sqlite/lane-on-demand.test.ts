import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../ports/store.ts';
import { LaneOnDemand } from './lane-on-demand.ts';
import type { StoreLane } from './worker-lane.ts';

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
  });
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
  });
  await lane.close();
});
