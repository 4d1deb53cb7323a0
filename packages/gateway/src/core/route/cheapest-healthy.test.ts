import { type Facts, noUsage, type UpstreamRefusal } from '@headgate/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue.fixture.ts';
import type { Target } from '../catalogue.ts';
import { cheapestHealthy } from './cheapest-healthy.ts';
import type { Outcome } from './outcome.ts';
import type { Router } from './router.ts';

const coolDownMs = 5000;
const nowMs = 1_000_000;

const facts: Facts = {
  model: 'demo',
  stream: false,
  maxOutputTokens: null,
  inputTokensEstimate: 100,
  choices: 1,
  needs: new Set(),
  sessionKey: null,
};

function refusedWith(kind: UpstreamRefusal['kind'], retryAfterMs: number | null = null): Outcome {
  const refusal = { kind, status: 500, message: '', type: null, code: null, param: null };
  return { kind: 'refused', refusal, retryAfterMs };
}

const unreachable: Outcome = { kind: 'unreachable', detail: 'refused', sent: false };

function end(router: Router, target: Target, outcome: Outcome): void {
  router.depart(target, facts, modelOf([target]), nowMs).ended(outcome, nowMs);
}

const draft = fc.record({
  priority: fc.nat(2),
  enabled: fc.boolean(),
  speaks: fc.boolean(),
  price: fc.option(fc.nat(3)),
  health: fc.constantFrom('well', 'ailing', 'blocked'),
});

/** Targets of distinct channels in any state, and a router that has seen them so. */
const scene = fc.array(draft, { maxLength: 6 }).map((drafts) => {
  const router = cheapestHealthy({ attemptsMax: 10, coolDownMs });
  const all = drafts.map((one, place) => {
    const cost = one.price === null ? null : priceOf(BigInt(one.price));
    const protocols = one.speaks ? { 'chat-completions': '/chat' } : { images: '/images' };
    return { ...one, target: targetOf({ ...one, id: `c${place}`, protocols, cost }) };
  });
  for (const { target, health } of all) {
    if (health === 'ailing') end(router, target, unreachable);
    if (health === 'blocked') end(router, target, refusedWith('rate-limited', 9000));
  }
  const plan = (targets: readonly Target[]) =>
    router.plan(facts, modelOf(targets), 'chat-completions', nowMs);
  return { all, plan };
});

function idsOf(targets: readonly Target[]): readonly string[] {
  return targets.map(({ channel }) => channel.id);
}

describe('whatever the channels are and have done', () => {
  test('the order of the input is irrelevant', () => {
    fc.assert(
      fc.property(scene, fc.infiniteStream(fc.nat()), ({ all, plan }, chance) => {
        const targets = all.map(({ target }) => target);
        const keys = new Map(targets.map((target) => [target, chance.next().value]));
        const shuffled = targets.toSorted((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0));
        expect(plan(shuffled)).toEqual(plan(targets));
      }),
    );
  });

  test('every channel that may be tried is, whatever its health, and no other', () => {
    fc.assert(
      fc.property(scene, ({ all, plan }) => {
        const able = all.filter(({ enabled, speaks }) => enabled && speaks);
        const open = able.filter(({ health }) => health !== 'blocked').map(({ target }) => target);
        const { targets, blockedRetryMs } = plan(all.map(({ target }) => target));
        expect(new Set(idsOf(targets))).toEqual(new Set(idsOf(open)));
        expect(blockedRetryMs).toBe(open.length === able.length ? null : 9000);
      }),
    );
  });

  test('priority comes first, then health, then price, an unknown one last', () => {
    fc.assert(
      fc.property(scene, ({ all, plan }) => {
        const known = new Map(all.map((one) => [one.target, one]));
        const ranks = plan(all.map(({ target }) => target)).targets.map((target) => {
          const one = known.get(target);
          return [one?.priority ?? 0, one?.health === 'ailing' ? 1 : 0, one?.price ?? 1000];
        });
        const comparable = ranks.map((rank) => rank.map((part) => String(part).padStart(4, '0')).join());
        expect(comparable).toEqual(comparable.toSorted());
      }),
    );
  });
});

describe('what a router learns', () => {
  const first = targetOf({ id: 'c1', cost: priceOf(1n) });
  const model = modelOf([targetOf({ id: 'c2', cost: priceOf(2n) }), first]);

  /** The order in which channels are tried once the first one's attempt has come to this. */
  function orderAfter(outcomes: readonly Outcome[], laterMs = 0): readonly string[] {
    const router = cheapestHealthy({ attemptsMax: 3, coolDownMs });
    for (const outcome of outcomes) end(router, first, outcome);
    return idsOf(router.plan(facts, model, 'chat-completions', nowMs + laterMs).targets);
  }

  const reading = {
    usage: noUsage,
    finishReason: null,
    finishReasonRaw: null,
    modelServed: null,
    hasOutput: true,
    outputBytes: 4,
    usageAtOutputBytes: 4,
  };
  const late = { kind: 'timed-out', committed: false, reading: null } as const;
  const ours = { committed: true, reading } as const;

  test.each<readonly [string, Outcome]>([
    ['unreachable', unreachable],
    ['a time-out before content', { ...late, phase: 'first-content' }],
    ['a stall', { ...late, phase: 'stall', committed: true, reading }],
    ['a cut', { kind: 'cut', detail: 'reset', ...ours }],
    ['an error of the server', refusedWith('server-error')],
    ['a dead credential', refusedWith('credential', 9000)],
  ])('%s puts a channel behind, for a while', (_, outcome) => {
    expect(orderAfter([outcome])).toEqual(['c2', 'c1']);
    expect(orderAfter([outcome], coolDownMs)).toEqual(['c1', 'c2']);
    expect(orderAfter([outcome, { kind: 'answered', reading }])).toEqual(['c1', 'c2']);
  });

  test.each<readonly [string, Outcome]>([
    ['the deadline of the call', { ...late, phase: 'deadline' }],
    ['a caller who has gone', { kind: 'caller-gone', ...ours }],
    ['our own end', { kind: 'shut-down', ...ours }],
    ['a bug of ours', { kind: 'bug', ...ours }],
    ['a wrong request', refusedWith('invalid-request', 9000)],
    ['a request against the policy', refusedWith('content-policy')],
    ['an answer it never gave', refusedWith('answer-missing')],
  ])('%s is no fault of the channel', (_, outcome) => {
    expect(orderAfter([outcome])).toEqual(['c1', 'c2']);
  });

  test('a rate limit that names its end is kept to', () => {
    const limited = refusedWith('rate-limited', 9000);
    expect(orderAfter([limited], 8999)).toEqual(['c2']);
    expect(orderAfter([limited], 9000)).toEqual(['c1', 'c2']);
  });

  test('a channel is named once for a call, and only so many are', () => {
    const router = cheapestHealthy({ attemptsMax: 1, coolDownMs });
    const many = modelOf(['c1', 'c1', 'c2', 'c3', 'c4', 'c5'].map((id) => targetOf({ id })));
    const plan = router.plan(facts, many, 'chat-completions', nowMs);
    expect(idsOf(plan.targets)).toEqual(['c1', 'c2', 'c3', 'c4']);
    expect(plan.attemptsMax).toBe(1);
  });
});
