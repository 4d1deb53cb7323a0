import { expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import { answered, asking, chance, refusedConnection, streamed, timedOut } from './route.fixture.ts';
import { Router } from './router.ts';

const [one, two] = ['one', 'two'].map((id) => targetOf({ id, cost: priceOf(1n) }));
if (one === undefined || two === undefined) throw new Error('there are two targets');
const model = modelOf([one, two]);
const request = asking(streamed, model);

function openRouter() {
  return new Router({
    attemptsMax: 3,
    uniform: chance(1),
    hashCredential: (it) => it,
  });
}

test('a call waits in vain where others did and nobody has been given anything since', () => {
  const router = openRouter();
  const whole = router.attempt(one, asking({ ...streamed, stream: false }, model), 0);
  const hung = [1, 2, 3].map(() => router.attempt(one, request, 1000));
  const late = router.attempt(one, request, 2000);
  for (const routed of hung) {
    expect(whole.waitedInVainMs(5000)).toBe(0);
    routed.noteEnd(timedOut('first-content'), 5000);
  }
  expect([whole, late].map((routed) => routed.waitedInVainMs(6000))).toEqual([5000, 4000]);
  late.noteFirstContent(7000);
  expect(whole.waitedInVainMs(9000)).toBe(0);
});

test('a call waits in vain where calls of another model do, until one of any model is given something', () => {
  const router = openRouter();
  const other = asking(streamed, modelOf([{ ...one, upstreamModel: 'other' }], 'm2'));
  const [target] = other.model.targets;
  if (target === undefined) throw new Error('the other model has a target');
  const whole = router.attempt(one, asking({ ...streamed, stream: false }, model), 0);
  const hung = [1, 2, 3].map(() => router.attempt(target, other, 1000));
  const late = router.attempt(target, other, 2000);
  for (const routed of hung) routed.noteEnd(timedOut('first-content'), 5000);
  expect(whole.waitedInVainMs(6000)).toBe(5000);
  late.noteFirstContent(7000);
  expect(whole.waitedInVainMs(9000)).toBe(0);
});

test('a trial of a target that is out of service is given the time of three mean answers', () => {
  const router = openRouter();
  for (let n = 0; n < 3; n++) router.attempt(one, request, 0).noteEnd(refusedConnection, 0);
  const trial = router.attempt(one, asking({ ...streamed, stream: false }, model), 10_000);
  // 500 tokens at 50 a second, while nothing is known.
  expect(trial.waitedInVainMs(40_000)).toBe(0);
  expect(trial.waitedInVainMs(42_000)).toBe(2000);
});

test('a target nobody knows has as long for its first content as the model elsewhere', () => {
  const router = openRouter();
  const alone = asking(request.facts, modelOf([two]));
  expect(router.attempt(two, alone, 0).firstContentMs).toBe(15_000);
  for (let n = 0; n < 10; n++) {
    const routed = router.attempt(one, request, 0);
    routed.noteFirstContent(100);
    routed.noteEnd(answered(), 100);
  }
  expect(router.attempt(two, request, 2000).firstContentMs).toBe(4000);
});

test.each([
  ['one target, and none beside it anywhere', modelOf([one]), 0],
  ['one target that another model has beside others', { ...modelOf([one]), hasChoice: true }, 1],
  ['several targets', model, 1],
])('the session of a long call of a model with %s is named so many times: %#', (_name, routed, times) => {
  let named = 0;
  const session = () => {
    named++;
    return 'a session';
  };
  openRouter()
    .attempt(one, { ...asking(streamed, routed), session }, 0)
    .noteEnd(answered({ inputFresh: 5000 }), 100);
  expect(named).toBe(times);
});

test('a silent target is waited for no longer than another one is worth', () => {
  const router = openRouter();
  const long = asking({ ...streamed, inputTokensEstimate: 100_000 }, model);
  expect(router.attempt(two, request, 0).firstContentMs).toBe(4600);
  expect(router.attempt(two, long, 0).firstContentMs).toBeGreaterThan(14_000);
  // Where the others take their time as well, nothing is won by leaving.
  for (const target of [one, two])
    for (let n = 0; n < 60; n++) {
      const routed = router.attempt(target, request, 0);
      routed.noteFirstContent(4000);
      routed.noteEnd(answered(), 4000);
    }
  router.route(request, 20_000);
  expect(router.attempt(two, request, 20_000).firstContentMs).toBeGreaterThan(11_000);
});
