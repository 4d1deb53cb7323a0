import { expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Credential } from '../catalogue/catalogue.ts';
import type { ServiceChange } from './attempt.ts';
import type { Outcome } from './outcomes.ts';
import { answered, asking, chance, refusedConnection, refusedWith, streamed } from './route.fixture.ts';
import { Router } from './router.ts';

const credentials: readonly Credential[] = ['a', 'b'].map((id) => ({ id, secret: `secret ${id}` }));
const plain = targetOf({ id: 'one', cost: priceOf(1n) });
const target = { ...plain, channel: { ...plain.channel, credentials } };
const model = modelOf([target]);
const request = asking(streamed, model);

function openRouter() {
  const heard: ServiceChange['kind'][] = [];
  const router = new Router({
    attemptsMax: 3,
    uniform: chance(1),
    hashCredential: (secret) => `hash of ${secret}`,
    onService: (_, { kind }) => heard.push(kind),
  });
  const call = (nowMs: number, outcome: Outcome = answered()) => {
    const attempt = router.attempt(target, request, nowMs);
    attempt.noteEnd(outcome, nowMs);
    return attempt.credential?.id;
  };
  return { router, call, heard };
}

test('a refused credential works again at once, and its next refusal is the first', () => {
  const { router, call } = openRouter();
  call(0, refusedWith('credential'));
  expect([1, 2].map((nowMs) => call(nowMs))).toEqual(['b', 'b']);
  expect(router.slotStatuses(target, 3)).toEqual([
    { credentialId: 'a', refusedUntilMs: 60_000, limitedUntilMs: null },
    { credentialId: 'b', refusedUntilMs: null, limitedUntilMs: null },
  ]);
  expect(router.lift(target, 'b', 3)).toBe(0);
  expect(router.lift(target, 'a', 3)).toBe(1);
  expect([4, 5].map((nowMs) => call(nowMs))).toEqual(['a', 'b']);
  call(6, refusedWith('credential'));
  expect(router.slotStatuses(target, 7)[0]?.refusedUntilMs).toBe(60_006);
});

test('a rate limit and a model that was missing are lifted as well', () => {
  const { router, call } = openRouter();
  for (const nowMs of [0, 1]) call(nowMs, refusedWith('rate-limited', 500_000));
  expect(router.status(target, 2).state).toBe('limited');
  expect(router.lift(target, null, 2)).toBe(2);
  expect(router.status(target, 3).state).toBe('serving');
  call(4, refusedWith('model-missing'));
  expect(router.status(target, 5).state).toBe('missing');
  expect(router.lift(target, null, 5)).toBe(1);
  expect(router.route(request, 6).targets).toEqual([target]);
});

test('what was ejected is in service, says so, and stays so in the next process', () => {
  const { router, call, heard } = openRouter();
  for (let nowMs = 0; nowMs < 20; nowMs++) call(nowMs, refusedConnection);
  expect(router.status(target, 20).state).toBe('ejected');
  router.takeChanged(20);
  expect(router.lift(target, null, 20)).toBe(1);
  expect(heard).toEqual(['ejected', 'back']);
  expect(router.status(target, 20).state).toBe('serving');
  const next = openRouter().router;
  next.restore(router.takeChanged(21), 21);
  expect(next.status(target, 21).state).toBe('serving');
  expect(router.lift(target, null, 22)).toBe(0);
});
