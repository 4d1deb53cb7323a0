import type { Facts, Need } from '@headgate/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, type TargetDraft, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Channel, Target } from '../catalogue/catalogue.ts';
import type { Outcome } from './outcomes.ts';
import {
  answered,
  asking,
  brokenOff,
  callerGone,
  chance,
  refusedConnection,
  refusedWith,
  streamed,
  timedOut,
} from './route.fixture.ts';
import type { RoutedAttempt } from './route.ts';
import { Router } from './router.ts';

function openRouter(): Router {
  return new Router({
    attemptsMax: 3,
    uniform: chance(2),
    hashCredential: (it) => it,
  });
}

interface Draft extends Partial<TargetDraft> {
  readonly channel?: Partial<Pick<Channel, 'drain' | 'maxConcurrency'>>;
  readonly target?: Partial<Pick<Target, 'contextWindow' | 'lacks'>>;
}

function draw(id: string, { channel, target, ...draft }: Draft = {}): Target {
  const made = targetOf({ id, cost: priceOf(1_000_000n), ...draft });
  return { ...made, ...target, channel: { ...made.channel, ...channel } };
}

function idsOf(targets: readonly Target[]): readonly string[] {
  return targets.map(({ channel }) => channel.id).toSorted();
}

function planned(targets: readonly Target[], facts: Partial<Facts> = {}): readonly string[] {
  return idsOf(openRouter().route(asking({ ...streamed, ...facts }, modelOf(targets)), 0).targets);
}

describe('what a call needs', () => {
  const blind = draw('blind', { target: { lacks: new Set<Need>(['image-input', 'tools']) } });
  const seeing = draw('seeing');

  test.each<[readonly Need[], readonly string[]]>([
    [[], ['blind', 'seeing']],
    [['file-input'], ['blind', 'seeing']],
    [['image-input'], ['seeing']],
    [['file-input', 'tools'], ['seeing']],
  ])('%j goes to those that do not lack it', (needs, ids) => {
    expect(planned([blind, seeing], { needs: new Set(needs) })).toEqual(ids);
  });

  test('is never sent where it is lacking, whatever else is left', () => {
    expect(planned([blind], { needs: new Set(['tools']) })).toEqual([]);
  });
});

describe('the length of a call', () => {
  const small = draw('small', { target: { contextWindow: 8000 } });
  const large = draw('large', { target: { contextWindow: 100_000 } });
  const unknown = draw('unknown');

  test.each([
    ['fits', 8000, ['large', 'small', 'unknown']],
    ['may fit after all', 15_000, ['large', 'small', 'unknown']],
    ['is clearly too much', 17_000, ['large', 'unknown']],
  ])('that %s', (_, inputTokensEstimate, ids) => {
    expect(planned([small, large, unknown], { inputTokensEstimate })).toEqual(ids);
  });

  test('turns nobody away by an estimate alone', () => {
    expect(planned([small, large], { inputTokensEstimate: 900_000 })).toEqual(['large', 'small']);
  });

  test('is no reason to try a small one while a large one is busy', () => {
    const router = openRouter();
    const model = modelOf([small, large]);
    const request = asking({ ...streamed, inputTokensEstimate: 50_000 }, model);
    router.attempt(large, request, 0).noteEnd(refusedWith('rate-limited', 3000), 0);
    expect(router.route(request, 1)).toMatchObject({ targets: [], blockedRetryMs: 2999 });
  });
});

describe('a channel that is drained', () => {
  const drained = draw('drained', { channel: { drain: true } });
  const model = modelOf([drained, draw('other', { priority: 1 })]);

  test('is sent no call but one that can only go there', () => {
    const router = openRouter();
    router.attempt(drained, asking(streamed, model), 0).noteEnd(answered({}, 'resp_1'), 0);
    const route = (continues?: string) =>
      idsOf(router.route(asking({ ...streamed, ...(continues && { continues }) }, model), 1).targets);
    expect([route(), route('resp_2'), route('resp_1')]).toEqual([['other'], ['other'], ['drained']]);
  });

  test('is no resort either, and is sent no probe', () => {
    const router = openRouter();
    const alone = modelOf([drained], 'alone');
    expect(router.route(asking(streamed, alone), 0).targets).toEqual([]);
    for (let n = 0; n < 5; n++)
      router.attempt(drained, asking(streamed, alone), 0).noteEnd(refusedConnection, 0);
    expect(router.probesDue(alone, 60_000)).toEqual([]);
  });
});

describe("the operator's tiers", () => {
  const dear = draw('dear', { cost: priceOf(100_000_000n) });
  const cheap = draw('cheap', { priority: 1 });
  const model = modelOf([cheap, dear]);
  const request = asking(streamed, model);

  function fail(router: Router, target: Target, nowMs: number): void {
    for (let n = 0; n < 6; n++) router.attempt(target, request, nowMs).noteEnd(refusedConnection, nowMs);
  }

  function firstsOf(router: Router, nowMs: number): ReadonlySet<string | undefined> {
    return new Set(Array.from({ length: 50 }, () => router.route(request, nowMs).targets[0]?.channel.id));
  }

  test('come before any price', () => {
    expect(firstsOf(openRouter(), 0)).toEqual(new Set(['dear']));
  });

  test('come before what nobody has asked for long', () => {
    const router = openRouter();
    router.attempt(dear, request, 100_000).noteEnd(answered(), 100_000);
    expect(firstsOf(router, 100_001)).toEqual(new Set(['dear']));
  });

  test('come before a probe by a call', () => {
    const router = openRouter();
    fail(router, cheap, 0);
    router.probe(cheap, request.model, 59_000).noteEnd(answered(), 59_000);
    expect(router.explain(request, 60_000).exclusions).toMatchObject([{ channelId: 'cheap', reason: 'due' }]);
    expect(firstsOf(router, 60_000)).toEqual(new Set(['dear']));
  });

  test('come before the time to recover in a panic', () => {
    const router = openRouter();
    fail(router, cheap, 0);
    fail(router, dear, 1000);
    expect(router.explain(request, 1001)).toMatchObject({ choice: 'panic', order: ['dear', 'cheap'] });
    expect(firstsOf(router, 1001)).toEqual(new Set(['dear']));
  });
});

describe('calls at once', () => {
  test('a full channel is passed over, and a caller is told to come back when all are full', () => {
    const router = openRouter();
    const narrow = draw('narrow', { channel: { maxConcurrency: 1 } });
    const other = { ...narrow, upstreamModel: 'other' };
    const routed = router.attempt(narrow, asking(streamed, modelOf([narrow])), 0);
    const request = asking(streamed, modelOf([other], 'm2'));
    expect(router.hasRoom(other)).toBe(false);
    expect(router.route(request, 0)).toMatchObject({ targets: [], blockedRetryMs: 1000 });
    expect(router.explain(request, 0).exclusions).toMatchObject([{ reason: 'full' }]);
    routed.noteEnd(callerGone, 1);
    expect(router.route(request, 1).targets).toEqual([other]);
  });

  const outcomes: readonly (Outcome | null)[] = [
    answered(),
    refusedConnection,
    brokenOff,
    callerGone,
    timedOut('first-content'),
    refusedWith('rate-limited'),
    refusedWith('credential'),
    refusedWith('model-missing'),
    null,
  ];

  test('are never more than allowed over all models, and all end', () => {
    const limits = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 });
    const event = fc.record({
      departs: fc.boolean(),
      pick: fc.nat(),
      outcome: fc.constantFrom(...outcomes),
      afterMs: fc.nat({ max: 40_000 }),
    });
    fc.assert(
      fc.property(limits, fc.array(event, { maxLength: 120 }), (all, events) => {
        const router = openRouter();
        const channels = all.map((maxConcurrency, n) => draw(`c${n}`, { channel: { maxConcurrency } }));
        const models = ['m1', 'm2'].map((id) =>
          modelOf(
            channels.map((target) => ({ ...target, upstreamModel: id })),
            id,
          ),
        );
        const attempts: { routed: RoutedAttempt; id: string }[] = [];
        const underWay = (id: string) => attempts.filter((each) => each.id === id).length;
        let nowMs = 0;
        for (const { departs, pick, outcome, afterMs } of events) {
          nowMs += afterMs;
          const model = models[pick % models.length];
          if (departs && model !== undefined) {
            const [target] = router.route(asking(streamed, model), nowMs).targets;
            if (target === undefined) continue;
            const routed = router.attempt(target, asking(streamed, model), nowMs);
            attempts.push({ routed, id: target.channel.id });
          } else attempts.splice(pick % Math.max(1, attempts.length), 1)[0]?.routed.noteEnd(outcome, nowMs);
          for (const { channel } of channels)
            expect(underWay(channel.id)).toBeLessThanOrEqual(channel.maxConcurrency ?? 0);
        }
        for (const { routed } of attempts) routed.noteEnd(null, nowMs);
        expect(channels.map((target) => router.hasRoom(target))).toEqual(channels.map(() => true));
      }),
      { numRuns: 60 },
    );
  });
});

function inTier(id: string, priority: number): Target {
  const target = targetOf({ id, cost: priceOf(10n) });
  return { ...target, channel: { ...target.channel, priority } };
}

const [first, second, backup] = [inTier('first', 0), inTier('second', 0), inTier('backup', 1)];
const request = asking(streamed, modelOf([first, second, backup]));

function eject(router: Router, target: Target, nowMs: number): void {
  for (let n = 0; n < 6; n++)
    router.attempt(target, request, nowMs + n).noteEnd(refusedConnection, nowMs + n);
}

/** Asks what is probed in the background; all of it answers. */
function probe(router: Router, nowMs: number): void {
  for (const target of router.probesDue(request.model, nowMs))
    router.probe(target, request.model, nowMs).noteEnd(answered(), nowMs + 200);
}

test('a backup that is back is in service again although no call goes there', () => {
  const router = openRouter();
  eject(router, backup, 0);
  for (let nowMs = 0; nowMs <= 60_000; nowMs += 1000) {
    probe(router, nowMs);
    router.attempt(first, request, nowMs).noteEnd(answered(), nowMs + 300);
  }
  expect(router.explain(request, 60_000).exclusions).toEqual([]);
});

test('what has answered since it was ejected is asked before what is ejected still, whatever its tier', () => {
  const router = openRouter();
  eject(router, backup, 0);
  router.attempt(backup, request, 20_000).noteEnd(answered(), 20_300);
  for (const target of [first, second]) eject(router, target, 21_000);
  const plans = Array.from({ length: 20 }, () => router.route(request, 21_100).targets[0]);
  expect(new Set(plans)).toEqual(new Set([backup]));
});

test('what may be back is asked before what is ejected still, whatever its tier', () => {
  const router = openRouter();
  eject(router, backup, 0);
  for (const target of [first, second]) eject(router, target, 100_000);
  const plans = Array.from({ length: 20 }, () => router.route(request, 100_100).targets[0]);
  expect(new Set(plans)).toEqual(new Set([backup]));
});

test('a call that two have failed still goes to one that has answered since it was ejected', () => {
  const router = openRouter();
  eject(router, backup, 0);
  router.attempt(backup, request, 20_000).noteEnd(answered(), 20_300);
  const tried = new Set(['first', 'second']);
  expect(router.route(request, 21_000, { tried, attemptsLeft: 2 }).targets[0]).toBe(backup);
});
