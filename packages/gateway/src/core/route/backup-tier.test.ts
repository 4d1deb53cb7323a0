import { expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue.fixture.ts';
import type { Target } from '../catalogue.ts';
import type { ProbeMode } from './choice/eligibility.ts';
import { ExpectedCostRouter } from './expected-cost-router.ts';
import { answered, asking, chance, refusedConnection, streamed } from './route.fixture.ts';

function inTier(id: string, priority: number): Target {
  const target = targetOf({ id, cost: priceOf(10n) });
  return { ...target, channel: { ...target.channel, priority } };
}

const [first, second, backup] = [inTier('first', 0), inTier('second', 0), inTier('backup', 1)];
const ask = asking(streamed, modelOf([first, second, backup]));

function openRouter(probes: ProbeMode): ExpectedCostRouter {
  return new ExpectedCostRouter({ attemptsMax: 3, probes, uniform: chance(1), hashCredential: (it) => it });
}

function eject(router: ExpectedCostRouter, target: Target, nowMs: number): void {
  for (let n = 0; n < 6; n++) router.depart(target, ask, nowMs + n).ended(refusedConnection, nowMs + n);
}

/** Asks what is probed in the background; all of it answers. */
function probe(router: ExpectedCostRouter, nowMs: number): void {
  for (const target of router.probesDue(ask.model, nowMs))
    router.probe(target, ask.model, nowMs).ended(answered(), nowMs + 200);
}

test('a backup that is back is in service again although no call goes there', () => {
  const router = openRouter('synthetic');
  eject(router, backup, 0);
  for (let nowMs = 0; nowMs <= 60_000; nowMs += 1000) {
    probe(router, nowMs);
    router.depart(first, ask, nowMs).ended(answered(), nowMs + 300);
  }
  expect(router.explain(ask, 60_000).exclusions).toEqual([]);
});

test('what has answered since it was ejected is asked before what is ejected still, whatever its tier', () => {
  const router = openRouter('calls');
  eject(router, backup, 0);
  router.depart(backup, ask, 20_000).ended(answered(), 20_300);
  for (const target of [first, second]) eject(router, target, 21_000);
  const plans = Array.from({ length: 20 }, () => router.plan(ask, 21_100).targets[0]);
  expect(new Set(plans)).toEqual(new Set([backup]));
});

test('what may be back is asked before what is ejected still, whatever its tier', () => {
  const router = openRouter('calls');
  eject(router, backup, 0);
  for (const target of [first, second]) eject(router, target, 100_000);
  const plans = Array.from({ length: 20 }, () => router.plan(ask, 100_100).targets[0]);
  expect(new Set(plans)).toEqual(new Set([backup]));
});

test('a call that two have failed still goes to one that has answered since it was ejected', () => {
  const router = openRouter('calls');
  eject(router, backup, 0);
  router.depart(backup, ask, 20_000).ended(answered(), 20_300);
  const tried = new Set(['first', 'second']);
  expect(router.plan(ask, 21_000, { tried, attemptsLeft: 2 }).targets[0]).toBe(backup);
});
