import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Target } from '../catalogue/catalogue.ts';
import { decodeRoute, encodeRoute, type RouteMade } from './explain.ts';
import type { Outcome } from './outcomes.ts';
import { answered, asking, chance, refusedConnection, refusedWith, streamed } from './route.fixture.ts';
import { Router } from './router.ts';

const cheap = targetOf({ id: 'cheap', cost: priceOf(1_000_000n) });
const dear = targetOf({ id: 'dear', cost: priceOf(1_040_000n) });
const off = targetOf({ id: 'off', enabled: false });
const request = asking(streamed, modelOf([dear, off, cheap]));

function seasonedRouter(): Router {
  const router = new Router({
    attemptsMax: 3,
    uniform: chance(3),
    hashCredential: (secret) => secret,
  });
  for (const target of [cheap, dear]) send(router, target, answered());
  return router;
}

function send(router: Router, target: Target, outcome: Outcome, nowMs = 0): void {
  router.attempt(target, request, nowMs).noteEnd(outcome, nowMs);
}

describe('an explanation', () => {
  test('has no effect: it is the same when asked again, and so is the plan after it', () => {
    const [asked, left] = [seasonedRouter(), seasonedRouter()];
    const explanations = Array.from({ length: 30 }, () => asked.explain(request, 1000));
    expect(new Set(explanations.map((each) => JSON.stringify(each))).size).toBe(1);
    for (let n = 0; n < 30; n++)
      expect(asked.route(request, 1000).targets).toEqual(left.route(request, 1000).targets);
  });

  test('names the candidates from the best, with parts that add up to what each is expected to cost', () => {
    const { choice, order, candidates, exclusions } = seasonedRouter().explain(request, 1000);
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
    const { candidates } = router.explain(request, 1000);
    let first = 0;
    for (let n = 0; n < 2000; n++) if (router.route(request, 1000).targets[0] === cheap) first++;
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
    const { exclusions, order } = router.explain(request, 1);
    const excluded = exclusions.find(({ channelId }) => channelId === 'cheap');
    expect(excluded?.reason).toBe(reason);
    if (reason === 'blocked') expect(excluded?.untilMs).toBe(30_000);
    expect(excluded?.untilMs).toBeGreaterThan(1);
    expect(order).toEqual(['dear']);
  });

  test('tells a probe and a panic from a choice by score', () => {
    const router = seasonedRouter();
    for (let n = 0; n < 4; n++) send(router, cheap, refusedConnection);
    expect(router.explain(request, 1000)).toMatchObject({ choice: 'score', order: ['dear'] });
    expect(router.explain(request, 8000)).toMatchObject({ choice: 'score', order: ['dear'] });
    for (let n = 0; n < 4; n++) send(router, dear, refusedConnection);
    const panic = router.explain(request, 1000);
    expect(panic).toMatchObject({ choice: 'panic', candidates: [] });
    expect(panic.order.toSorted()).toEqual(['cheap', 'dear']);
    expect(router.explain(asking(streamed, modelOf([off])), 1000)).toMatchObject({
      choice: 'nothing',
      order: [],
    });
    router.probe(cheap, request.model, 8000).noteEnd(answered(), 8000);
    router.probe(dear, request.model, 8000).noteEnd(answered(), 8000);
    for (let n = 0; n < 2; n++) send(router, dear, answered(), 8000);
    expect(router.explain(request, 8000)).toMatchObject({ choice: 'probe', order: ['cheap', 'dear'] });
  });

  test('a call that goes on from an answer is pinned to where that was given', () => {
    const router = seasonedRouter();
    send(router, dear, answered({}, 'resp_1'));
    const pinned = asking({ ...streamed, continues: 'resp_1' }, request.model);
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

function targetsOf(count: number, rest: { readonly enabled?: boolean } = {}): readonly Target[] {
  return Array.from({ length: count }, (_, n) =>
    targetOf({ id: `${rest.enabled === false ? 'off' : 'c'}-${n}`, cost: priceOf(BigInt(100 + n)), ...rest }),
  );
}

function openRouter() {
  return new Router({
    attemptsMax: 3,
    uniform: chance(5),
    hashCredential: (secret) => secret,
  });
}

/** Every target has been asked before, so that nothing is explored. */
function seasoned(targets: readonly Target[]) {
  const router = openRouter();
  const request = asking(streamed, modelOf(targets));
  for (const target of targets) router.attempt(target, request, 0).noteEnd(null, 0);
  const planned = (attemptsBefore: number, tried: readonly string[] = []): RouteMade => {
    const progress = { tried: new Set(tried), attemptsLeft: 3 - attemptsBefore };
    return { route: router.route(request, 1000, progress), attemptsBefore, protocol: null };
  };
  return { router, request: request, planned };
}

test('keeps the protocol that a request was translated to, and is as long as before where it was not', () => {
  const { planned } = seasoned(targetsOf(2));
  const plan = planned(0);
  const asItWas = encodeRoute([plan]) ?? '';
  const translated = encodeRoute([{ ...plan, protocol: 'responses' }]) ?? '';
  expect(translated).toBe(asItWas.replace(/\]\]$/, ',"responses"]]'));
  expect([asItWas, translated].map((text) => decodeRoute(text)[0]?.protocol)).toEqual([null, 'responses']);
});

test('a call that was never planned has nothing to tell', () => {
  expect(encodeRoute([])).toBeNull();
  expect(decodeRoute(null)).toEqual([]);
});

test('keeps who could be asked at what cost, who could not and why, and who was asked first', () => {
  const targets = [
    ...targetsOf(2),
    targetOf({ id: 'the "dead"', cost: priceOf(1n) }),
    ...targetsOf(1, { enabled: false }),
  ];
  const { router, request, planned } = seasoned(targets);
  const dead = targets[2] ?? targets[0];
  for (let n = 0; n < 3 && dead !== undefined; n++)
    router.attempt(dead, request, 0).noteEnd(refusedConnection, 0);
  const made = planned(0);
  const [record, ...others] = decodeRoute(encodeRoute([made]));
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    attemptsBefore: 0,
    choice: 'score',
    firstChannelId: made.route.targets[0]?.channel.id,
    candidateCount: 2,
    candidates: [
      { channelId: 'c-0', upstreamModel: 'demo', tier: 0 },
      { channelId: 'c-1', upstreamModel: 'demo', tier: 0 },
    ],
    exclusions: [
      { reason: 'disabled', count: 1, channelIds: ['off-0'] },
      { reason: 'open', count: 1, channelIds: ['the "dead"'] },
    ],
  });
  const [cheap, dear] = record?.candidates ?? [];
  expect(cheap?.expectedCostPicoUsd).toBeGreaterThan(100_000);
  expect(dear?.expectedCostPicoUsd).toBeGreaterThan(cheap?.expectedCostPicoUsd ?? 0);
  expect(cheap?.chance).toBe(0.97);
  expect((cheap?.share ?? 0) + (dear?.share ?? 0)).toBeCloseTo(1, 3);
});

test('of a further plan keeps what is different, and the few that are best then', () => {
  const targets = [...targetsOf(6), ...targetsOf(2, { enabled: false })];
  const { router, request, planned } = seasoned(targets);
  const first = planned(0);
  for (const target of targets.slice(0, 1))
    router.attempt(target, request, 0).noteEnd(refusedWith('credential'), 0);
  const records = decodeRoute(encodeRoute([first, planned(1, ['c-1'])]));
  expect(records.map(({ candidateCount, candidates }) => [candidateCount, candidates.length])).toEqual([
    [6, 6],
    [4, 4],
  ]);
  expect(records[1]).toMatchObject({
    attemptsBefore: 1,
    exclusions: [
      { reason: 'credential', count: 1, channelIds: ['c-0'] },
      { reason: 'tried', count: 1, channelIds: ['c-1'] },
    ],
  });
});

test('is bounded, whatever the number of targets', () => {
  const { planned } = seasoned([...targetsOf(300), ...targetsOf(200, { enabled: false })]);
  const plans = Array.from({ length: 20 }, (_, n) => planned(n, n === 0 ? [] : ['c-0']));
  const text = encodeRoute(plans) ?? '';
  expect(text.length).toBeLessThan(4000);
  const records = decodeRoute(text);
  expect(records).toHaveLength(8);
  expect(records[0]).toMatchObject({ candidateCount: 300, exclusions: [{ reason: 'disabled', count: 200 }] });
  expect(records[0]?.candidates).toHaveLength(16);
  expect(records[0]?.exclusions[0]?.channelIds).toHaveLength(8);
});

test('tells a panic from a plan, and a plan from none', () => {
  const [only] = targetsOf(1);
  if (only === undefined) throw new Error('one target was asked for');
  const { router, request, planned } = seasoned([only]);
  for (let n = 0; n < 3; n++) router.attempt(only, request, 0).noteEnd(refusedConnection, 0);
  const records = decodeRoute(encodeRoute([planned(0), planned(1, ['c-0'])]));
  expect(records.map(({ choice, firstChannelId }) => [choice, firstChannelId])).toEqual([
    ['panic', 'c-0'],
    ['nothing', null],
  ]);
});
