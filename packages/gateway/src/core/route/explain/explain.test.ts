import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../../catalogue.fixture.ts';
import type { Target } from '../../catalogue.ts';
import { ExpectedCostRouter } from '../expected-cost-router.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { answered, asking, chance, refusedConnection, refusedWith, streamed } from '../route.fixture.ts';

const cheap = targetOf({ id: 'cheap', cost: priceOf(1_000_000n) });
const dear = targetOf({ id: 'dear', cost: priceOf(1_040_000n) });
const off = targetOf({ id: 'off', enabled: false });
const ask = asking(streamed, modelOf([dear, off, cheap]));

function seasonedRouter(): ExpectedCostRouter {
  const router = new ExpectedCostRouter({
    attemptsMax: 3,
    probes: 'calls',
    uniform: chance(3),
    hashCredential: (secret) => secret,
  });
  for (const target of [cheap, dear]) send(router, target, answered());
  return router;
}

function send(router: ExpectedCostRouter, target: Target, outcome: Outcome): void {
  router.depart(target, ask, 0).ended(outcome, 0);
}

describe('an explanation', () => {
  test('has no effect: it is the same when asked again, and so is the plan after it', () => {
    const [asked, left] = [seasonedRouter(), seasonedRouter()];
    const explanations = Array.from({ length: 30 }, () => asked.explain(ask, 1000));
    expect(new Set(explanations.map((each) => JSON.stringify(each))).size).toBe(1);
    for (let n = 0; n < 30; n++) expect(asked.plan(ask, 1000).targets).toEqual(left.plan(ask, 1000).targets);
  });

  test('names the candidates from the best, with parts that add up to what each is expected to cost', () => {
    const { choice, order, candidates, exclusions } = seasonedRouter().explain(ask, 1000);
    expect({ choice, order }).toEqual({ choice: 'score', order: ['cheap', 'dear'] });
    expect(candidates.map(({ channelId }) => channelId)).toEqual(['cheap', 'dear']);
    for (const { parts, expectedCostPicoUsd } of candidates) {
      const sum = parts.price + parts.waiting + parts.failure + parts.breakage + parts.slowStart;
      expect(sum / expectedCostPicoUsd).toBeCloseTo(1);
    }
    // 1000 tokens of input and some 500 of output, at a dollar a million.
    expect(candidates[0]?.parts.price).toBeGreaterThan(1.4e9);
    expect(exclusions).toEqual([
      { channelId: 'off', upstreamModel: 'demo', reason: 'disabled', untilMs: null },
    ]);
  });

  test('the share is that of the calls that are planned', () => {
    const router = seasonedRouter();
    const { candidates } = router.explain(ask, 1000);
    let first = 0;
    for (let n = 0; n < 2000; n++) if (router.plan(ask, 1000).targets[0] === cheap) first++;
    expect(Math.abs(first / 2000 - (candidates[0]?.share ?? 0))).toBeLessThan(0.1);
  });

  test.each([
    ['blocked', refusedWith('rate-limited', 30_000)],
    ['model-missing', refusedWith('model-missing')],
    ['credential', refusedWith('credential')],
    ['capped', refusedWith('rate-limited')],
  ])('says until when a target is left out: %s', (reason, outcome) => {
    const router = seasonedRouter();
    send(router, cheap, outcome);
    const { exclusions, order } = router.explain(ask, 1);
    const excluded = exclusions.find(({ channelId }) => channelId === 'cheap');
    expect(excluded?.reason).toBe(reason);
    if (reason === 'blocked') expect(excluded?.untilMs).toBe(30_000);
    expect(excluded?.untilMs).toBeGreaterThan(1);
    expect(order).toEqual(['dear']);
  });

  test('tells a probe, an exploration and a panic from a choice by score', () => {
    expect(seasonedRouter().explain(ask, 30_000)).toMatchObject({ choice: 'exploration' });
    const router = seasonedRouter();
    for (let n = 0; n < 4; n++) send(router, cheap, refusedConnection);
    expect(router.explain(ask, 1000)).toMatchObject({ choice: 'score', order: ['dear'] });
    expect(router.explain(ask, 8000)).toMatchObject({ choice: 'probe', order: ['cheap', 'dear'] });
    for (let n = 0; n < 4; n++) send(router, dear, refusedConnection);
    const panic = router.explain(ask, 1000);
    expect(panic).toMatchObject({ choice: 'panic', candidates: [] });
    expect(panic.order.toSorted()).toEqual(['cheap', 'dear']);
    expect(router.explain(asking(streamed, modelOf([off])), 1000)).toMatchObject({
      choice: 'nothing',
      order: [],
    });
  });

  test('a call that goes on from an answer is pinned to where that was given', () => {
    const router = seasonedRouter();
    send(router, dear, answered({}, 'resp_1'));
    const pinned = asking({ ...streamed, continues: 'resp_1' }, ask.model);
    expect(router.explain(pinned, 1000)).toMatchObject({ choice: 'pinned', order: ['dear'] });
  });

  test('where nothing costs anything, time has a price all the same', () => {
    const router = seasonedRouter();
    const free = asking(streamed, modelOf([targetOf({ id: 'free', cost: priceOf(0n) })]));
    const [candidate] = router.explain(free, 1000).candidates;
    expect(candidate?.parts.price).toBe(0);
    expect(candidate?.expectedCostPicoUsd).toBeGreaterThan(1e6);
  });
});
