import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, type TargetDraft, targetOf } from '../../catalogue.fixture.ts';
import type { Model, Target } from '../../catalogue.ts';
import { ExpectedCostRouter } from '../expected-cost-router.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { answered, asking, chance, refusedConnection, refusedWith, streamed } from '../route.fixture.ts';

const idleMs = 60_000;

function priced(id: string, microUsd: bigint, rest: Partial<TargetDraft> = {}): Target {
  return targetOf({ id, cost: priceOf(microUsd), ...rest });
}

/** A router beside a prober, and what it has told of targets going out of service and coming back. */
function openRouter() {
  const told: string[] = [];
  const router = new ExpectedCostRouter({
    attemptsMax: 3,
    probes: 'synthetic',
    uniform: chance(1),
    hashCredential: (it) => it,
    onService: ({ channel }, change) => told.push(`${channel.id} ${change}`),
  });
  return { router, told };
}

function callOnce(router: ExpectedCostRouter, target: Target, model: Model, nowMs: number, outcome: Outcome) {
  router.depart(target, asking(streamed, model), nowMs).ended(outcome, nowMs);
}

function eject(router: ExpectedCostRouter, target: Target, model: Model): void {
  for (let n = 0; n < 3; n++) callOnce(router, target, model, 0, refusedConnection);
}

const idle = (router: ExpectedCostRouter, models: readonly Model[], nowMs: number, afterMs = idleMs) =>
  router.probesIdle(models, nowMs, afterMs).map(({ target }) => target);

const idsOf = (targets: readonly Target[]) => targets.map(({ channel }) => channel.id);

describe('a target that was ejected', () => {
  const [cheap, dear] = [priced('cheap', 1n), priced('dear', 3n)];
  const model = modelOf([cheap, dear]);

  const firstOf = (router: ExpectedCostRouter, nowMs: number) =>
    idsOf(router.plan(asking(streamed, model), nowMs).targets)[0];

  test('is asked by probes alone until one comes back well, and is told of when it goes and when it is back', () => {
    const { router, told } = openRouter();
    eject(router, cheap, model);
    expect(told).toEqual(['cheap ejected']);
    expect(router.probesDue(model, 3000)).toEqual([]);
    expect(router.probesDue(model, 7000)).toEqual([cheap]);
    expect(firstOf(router, 7000)).toBe('dear');
    router.probe(cheap, model, 7000).ended(refusedConnection, 7100);
    expect(router.probesDue(model, 8000)).toEqual([]);
    const second = router.probe(cheap, model, 30_000);
    expect(router.probesDue(model, 30_100)).toEqual([]);
    second.ended(answered(), 30_200);
    expect(firstOf(router, 30_300)).toBe('cheap');
    for (let n = 0; n < 2; n++) callOnce(router, cheap, model, 30_400, answered());
    expect(told).toEqual(['cheap ejected', 'cheap back']);
  });

  test.each(['invalid-request', 'rate-limited', 'model-missing', 'content-policy'] as const)(
    'that refuses a probe (%s) is there: a real call shows the rest',
    (kind) => {
      const { router } = openRouter();
      eject(router, cheap, model);
      router.probe(cheap, model, 7000).ended(refusedWith(kind), 7100);
      expect(router.probesDue(model, 30_000)).toEqual([]);
      expect(firstOf(router, 30_000)).toBe('cheap');
      for (let n = 0; n < 3; n++) callOnce(router, cheap, model, 30_000, refusedConnection);
      expect(firstOf(router, 30_100)).toBe('dear');
    },
  );

  test('is left alone when a probe shows that its credential is refused', () => {
    const { router } = openRouter();
    eject(router, cheap, model);
    router.probe(cheap, model, 7000).ended(refusedWith('credential'), 7100);
    expect(router.probesDue(model, 30_000)).toEqual([]);
    expect(firstOf(router, 30_000)).toBe('dear');
    expect(router.probesDue(model, 70_000)).toEqual([cheap]);
  });

  test('of which no token can be asked is tried with a real call', () => {
    const images = priced('images', 1n, { protocols: { images: '/images' } });
    const { router } = openRouter();
    const ofImages = { ...modelOf([images, priced('dear', 3n)]), outputModalities: ['image'] };
    const ask = { ...asking(streamed, ofImages), protocol: 'images' } as const;
    eject(router, images, ofImages);
    expect(router.probesDue(ofImages, 7000)).toEqual([]);
    expect(idsOf(router.plan(ask, 7000).targets)).toEqual(['images']);
  });
});

test('three hundred seconds of refused connections cost ten attempts of callers at the most', () => {
  const [down, up] = [priced('down', 1n), priced('up', 3n)];
  const model = modelOf([down, up]);
  const { router } = openRouter();
  let attempts = 0;
  for (let nowMs = 0; nowMs < 300_000; nowMs += 100) {
    if (nowMs % 1000 === 0) {
      for (const target of router.probesDue(model, nowMs))
        router.probe(target, model, nowMs).ended(target === down ? refusedConnection : answered(), nowMs + 5);
    }
    for (const target of router.plan(asking(streamed, model), nowMs).targets) {
      if (target === down) attempts++;
      callOnce(router, target, model, nowMs, target === down ? refusedConnection : answered());
      if (target === up) break;
    }
  }
  expect(attempts).toBeGreaterThan(0);
  expect(attempts).toBeLessThanOrEqual(10);
});

describe('what nobody calls', () => {
  test('is probed once in a while: of each channel the cheapest target', () => {
    const [dear, cheap, other] = [priced('a', 3n), priced('a', 1n), priced('b', 2n)];
    const models = [modelOf([dear, other], 'm1'), modelOf([cheap, other], 'm2')];
    const { router } = openRouter();
    expect(idle(router, models, 1000)).toEqual([]);
    callOnce(router, other, modelOf([other], 'm1'), 50_000, answered());
    expect(idle(router, models, 61_000)).toEqual([cheap]);
    router.probe(cheap, modelOf([cheap], 'm2'), 61_000).ended(answered(), 61_100);
    expect(idle(router, models, 62_000)).toEqual([]);
    expect(idle(router, models, 111_000)).toEqual([other]);
  });

  test('is probed soon after a failure, until it is out of service', () => {
    const target = priced('a', 1n);
    const model = modelOf([target]);
    const { router, told } = openRouter();
    callOnce(router, target, model, 0, refusedConnection);
    expect(idle(router, [model], 5000)).toEqual([]);
    let nowMs = 0;
    while (told.length === 0 && nowMs < 100_000) {
      nowMs += 1000;
      for (const due of idle(router, [model], nowMs))
        router.probe(due, model, nowMs).ended(refusedConnection, nowMs);
    }
    expect(told).toEqual(['a ejected']);
    expect(nowMs).toBeLessThanOrEqual(30_000);
    expect(idle(router, [model], nowMs + idleMs)).toEqual([]);
  });

  test.each([
    ['disabled', { enabled: false }, null],
    ['of images alone', { protocols: { images: '/images' } }, null],
    ['blocked', {}, refusedWith('rate-limited', 3_600_000)],
    ['without the model', {}, refusedWith('model-missing')],
    ['without a good credential', {}, refusedWith('credential')],
  ] as const)('is not probed when it is %s', (_name, draft, outcome) => {
    const target = priced('a', 1n, draft);
    const model = modelOf([target]);
    const { router } = openRouter();
    callOnce(router, target, model, 0, answered());
    expect(idle(router, [model], 30_000, 20_000)).toHaveLength(outcome === null ? 0 : 1);
    if (outcome !== null) callOnce(router, target, model, 0, outcome);
    expect(idle(router, [model], 30_000, 20_000)).toEqual([]);
  });

  test('teaches nothing of what calls are like', () => {
    const target = priced('a', 1n);
    const model = modelOf([target, priced('b', 1n)]);
    const [probed, plain] = [openRouter().router, openRouter().router];
    for (let n = 0; n < 50; n++)
      probed.probe(target, model, n).ended(answered({ inputFresh: 1, output: 1 }), n + 1);
    const ofB = (router: ExpectedCostRouter) =>
      router.explain(asking(streamed, model), 5000).candidates.find(({ channelId }) => channelId === 'b');
    expect(ofB(plain)).toBeDefined();
    expect(ofB(probed)?.parts).toEqual(ofB(plain)?.parts);
  });
});
