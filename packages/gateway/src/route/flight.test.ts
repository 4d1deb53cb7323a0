import { expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import { answered, asking, chance, refusedConnection, streamed, timedOut } from './route.fixture.ts';
import { ExpectedCostRouter } from './router.ts';

const [one, two] = ['one', 'two'].map((id) => targetOf({ id, cost: priceOf(1n) }));
if (one === undefined || two === undefined) throw new Error('there are two targets');
const model = modelOf([one, two]);
const ask = asking(streamed, model);

function openRouter() {
  return new ExpectedCostRouter({
    attemptsMax: 3,
    uniform: chance(1),
    hashCredential: (it) => it,
  });
}

test('a call waits in vain where others did and nobody has been given anything since', () => {
  const router = openRouter();
  const whole = router.depart(one, asking({ ...streamed, stream: false }, model), 0);
  const hung = [1, 2, 3].map(() => router.depart(one, ask, 1000));
  const late = router.depart(one, ask, 2000);
  for (const flight of hung) {
    expect(whole.waitedInVainMs(5000)).toBe(0);
    flight.ended(timedOut('first-content'), 5000);
  }
  expect([whole, late].map((flight) => flight.waitedInVainMs(6000))).toEqual([5000, 4000]);
  late.began(7000);
  expect(whole.waitedInVainMs(9000)).toBe(0);
});

test('a call waits in vain where calls of another model do, until one of any model is given something', () => {
  const router = openRouter();
  const other = asking(streamed, modelOf([{ ...one, upstreamModel: 'other' }], 'm2'));
  const [target] = other.model.targets;
  if (target === undefined) throw new Error('the other model has a target');
  const whole = router.depart(one, asking({ ...streamed, stream: false }, model), 0);
  const hung = [1, 2, 3].map(() => router.depart(target, other, 1000));
  const late = router.depart(target, other, 2000);
  for (const flight of hung) flight.ended(timedOut('first-content'), 5000);
  expect(whole.waitedInVainMs(6000)).toBe(5000);
  late.began(7000);
  expect(whole.waitedInVainMs(9000)).toBe(0);
});

test('a trial of a target that is out of service is given the time of three mean answers', () => {
  const router = openRouter();
  for (let n = 0; n < 3; n++) router.depart(one, ask, 0).ended(refusedConnection, 0);
  const trial = router.depart(one, asking({ ...streamed, stream: false }, model), 10_000);
  // 500 tokens at 50 a second, while nothing is known.
  expect(trial.waitedInVainMs(40_000)).toBe(0);
  expect(trial.waitedInVainMs(42_000)).toBe(2000);
});

test('a target nobody knows has as long for its first content as the model elsewhere', () => {
  const router = openRouter();
  expect(router.depart(two, ask, 0).firstContentMs).toBe(15_000);
  for (let n = 0; n < 10; n++) {
    const flight = router.depart(one, ask, 0);
    flight.began(100);
    flight.ended(answered(), 100);
  }
  expect(router.depart(two, ask, 2000).firstContentMs).toBe(4000);
});
