import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Credential, Target } from '../catalogue/catalogue.ts';
import type { Outcome } from './outcomes.ts';
import { answered, asking, chance, refusedConnection, refusedWith, streamed } from './route.fixture.ts';
import { Router } from './router.ts';

const [a, b, c] = ['a', 'b', 'c'].map((id): Credential => ({ id, secret: `secret ${id}` }));
if (a === undefined || b === undefined || c === undefined) throw new Error('there are three credentials');

function withCredentials(target: Target, ...credentials: readonly Credential[]): Target {
  return { ...target, channel: { ...target.channel, credentials } };
}

const target = withCredentials(targetOf({ id: 'one', cost: priceOf(1n) }), a, b, c);
const model = modelOf([target]);
const request = asking(streamed, model);

function openRouter(): Router {
  return new Router({
    attemptsMax: 3,
    uniform: chance(1),
    hashCredential: (secret) => `hash of ${secret}`,
  });
}

/** Makes a call and says which credential it was sent with. */
function call(
  router: Router,
  nowMs: number,
  outcome: Outcome = answered(),
  { asked = request, to = target } = {},
): string | undefined {
  const routed = router.attempt(to, asked, nowMs);
  routed.noteEnd(outcome, nowMs);
  return routed.credential?.id;
}

function reasonsOf(router: Router, nowMs: number, asked = request): readonly unknown[] {
  return router.explain(asked, nowMs).exclusions.map(({ reason, untilMs }) => [reason, untilMs]);
}

describe('several credentials', () => {
  test('take turns', () => {
    const router = openRouter();
    expect([0, 1, 2, 3, 4].map((nowMs) => call(router, nowMs))).toEqual(['a', 'b', 'c', 'a', 'b']);
  });

  const other = { ...target, upstreamModel: 'other' };

  test('one that is refused is left out for a minute, for that model alone; then it is tried again', () => {
    const router = openRouter();
    call(router, 0, refusedWith('credential'));
    expect([1, 2, 3].map((nowMs) => call(router, nowMs))).toEqual(['b', 'c', 'b']);
    expect([1, 2, 3].map((nowMs) => call(router, nowMs, answered(), { to: other }))).toContain('a');
    expect(call(router, 60_001)).toBe('a');
  });

  test('one that two models are refused with is left out for all, longer each time, until it is accepted', () => {
    const router = openRouter();
    const refuse = (nowMs: number, to = target) =>
      router.attempt(withCredentials(to, a), request, nowMs).noteEnd(refusedWith('credential'), nowMs);
    const third = { ...target, upstreamModel: 'third' };
    refuse(0);
    refuse(1, other);
    expect([2, 3, 4].map((nowMs) => call(router, nowMs, answered(), { to: third }))).not.toContain('a');
    // What is known of the credential needs no second witness.
    refuse(60_002, third);
    expect(
      [120_003, 120_004, 120_005].map((nowMs) => call(router, nowMs, answered(), { to: third })),
    ).not.toContain('a');
    expect(
      [180_003, 180_004, 180_005].map((nowMs) => call(router, nowMs, answered(), { to: third })),
    ).toContain('a');
    refuse(180_006);
    expect(
      [180_007, 180_008, 180_009].map((nowMs) => call(router, nowMs, answered(), { to: third })),
    ).toContain('a');
  });

  test('a probe that is refused needs no second witness', () => {
    const router = openRouter();
    router.probe(withCredentials(target, a), model, 0).noteEnd(refusedWith('credential'), 0);
    expect([1, 2, 3].map((nowMs) => call(router, nowMs, answered(), { to: other }))).not.toContain('a');
  });

  test('however often one model is refused, the others go on, and it is asked again after five minutes at the latest', () => {
    const router = openRouter();
    let nowMs = 0;
    for (let n = 0; n < 8; n++) {
      router.attempt(withCredentials(target, a), request, nowMs).noteEnd(refusedWith('credential'), nowMs);
      nowMs += 300_000;
      expect([1, 2, 3].map((later) => call(router, nowMs + later, answered(), { to: other }))).toContain('a');
    }
  });

  test('answers to one burst of refusals count once', () => {
    const router = openRouter();
    const attempts = Array.from({ length: 9 }, () => router.attempt(withCredentials(target, a), request, 0));
    for (const routed of attempts) routed.noteEnd(refusedWith('credential'), 10);
    expect(call(router, 60_011)).toBe('b');
    expect(call(router, 60_012)).toBe('c');
    expect(call(router, 60_013)).toBe('a');
  });

  test('one at its limit is left out for one model until the limit ends', () => {
    const router = openRouter();
    call(router, 0, refusedWith('rate-limited', 9000));
    expect([1, 2, 3].map((nowMs) => call(router, nowMs))).toEqual(['b', 'c', 'b']);
    expect(call(router, 4, answered(), { to: { ...target, upstreamModel: 'other' } })).toBe('a');
    expect([10_000, 10_001].map((nowMs) => call(router, nowMs))).toContain('a');
  });

  test('the target is left out when all are, for the reason that ends first', () => {
    const router = openRouter();
    call(router, 0, refusedWith('credential'));
    call(router, 1, refusedWith('rate-limited', 9000));
    expect(reasonsOf(router, 2)).toEqual([]);
    call(router, 2, refusedWith('rate-limited', 5000));
    expect(reasonsOf(router, 3)).toEqual([['blocked', 5002]]);
    expect(router.route(request, 3)).toMatchObject({ targets: [], blockedRetryMs: 4999 });
  });

  test('of one call none is used twice, and the channel is left out when all were', () => {
    const router = openRouter();
    const refused = new Set<Credential>();
    const progress = { tried: new Set<string>(), refused, attemptsLeft: 2 };
    for (const credential of [a, b, c]) {
      expect(router.route(request, 0, progress).targets).toEqual([target]);
      const routed = router.attempt(target, request, 0, refused);
      // A count that is refused teaches nothing: only the call itself knows of it.
      routed.noteEnd(null, 0);
      expect(routed.credential).toBe(credential);
      refused.add(credential);
    }
    expect(router.route(request, 0, progress).targets).toEqual([]);
  });

  test('a dead host is dead for all of them', () => {
    const router = openRouter();
    const two = targetOf({ id: 'two', cost: priceOf(2n) });
    const both = asking(streamed, modelOf([target, two], 'both'));
    for (let n = 0; n < 3; n++) call(router, n, refusedConnection);
    expect(router.route(both, 100).targets).toEqual([two]);
  });

  test('one with a new value starts anew, and the health of the channel stays', () => {
    const router = openRouter();
    const single = withCredentials(target, a);
    call(router, 0, refusedWith('credential'), { to: single });
    expect(reasonsOf(router, 1, asking(streamed, modelOf([single], 'single')))).toMatchObject([
      ['credential', 60_000],
    ]);
    const renewed = withCredentials(target, { ...a, secret: 'another' });
    const asked = asking(streamed, modelOf([renewed], 'renewed'));
    expect(reasonsOf(router, 1, asked)).toEqual([]);
    for (let n = 0; n < 3; n++) call(router, 2, refusedConnection, { to: renewed });
    const again = asking(streamed, modelOf([withCredentials(target, b)], 'again'));
    expect(reasonsOf(router, 3, again)).toMatchObject([['open', expect.any(Number)]]);
  });

  test('a session goes back to where it is warm, unless that is not free', () => {
    const router = openRouter();
    const asked = { ...request, session: () => 's' };
    const turn = (nowMs: number, outcome = answered({ inputFresh: 9000 })) =>
      call(router, nowMs, outcome, { asked });
    expect(turn(0)).toBe('a');
    call(router, 1);
    expect([turn(2), turn(3)]).toEqual(['a', 'a']);
    expect(turn(4, refusedWith('rate-limited', 9000))).toBe('a');
    expect(turn(5)).toBe('c');
  });

  test('what goes on from an answer is sent with what that was given to', () => {
    const router = openRouter();
    call(router, 0);
    call(router, 1, answered({}, 'resp_1'));
    const asked = asking({ ...streamed, continues: 'resp_1' }, model);
    expect([2, 3].map((nowMs) => call(router, nowMs, answered(), { asked }))).toEqual(['b', 'b']);
    call(router, 4, refusedWith('rate-limited', 9000), { asked });
    expect(reasonsOf(router, 5, asked)).toMatchObject([['blocked', expect.any(Number)]]);
    expect(reasonsOf(router, 5)).toEqual([]);
  });
});
