import { protocols } from '@headgate/protocols';
import { describe, expect, test, vi } from 'vitest';
import { Rig as CallRig } from '../call/call.fixture.ts';
import { Watchdog } from '../call/watchdog.ts';
import { modelOf, priceOf, type TargetDraft, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Catalogue, Model, Target } from '../catalogue/catalogue.ts';
import type { ModelFacts } from '../catalogue/model-facts.ts';
import { Rights } from '../catalogue/rights.ts';
import { Wires } from '../catalogue/wire.ts';
import type { Upstream, UpstreamHandler, UpstreamPlace } from '../ports/upstream.ts';
import type { Outcome } from './outcomes.ts';
import { Prober } from './prober.ts';
import {
  answered,
  asking,
  chance,
  refusedConnection,
  refusedWith,
  streamed,
  timedOut,
} from './route.fixture.ts';
import { Router } from './router.ts';

interface Sent {
  readonly call: UpstreamPlace;
  readonly body: readonly Uint8Array[];
  readonly handler: UpstreamHandler;
  isAborted: boolean;
}

/** A prober between a router and upstreams that a test plays, on a clock that it moves. */
class Rig {
  readonly sent: Sent[] = [];
  readonly told: string[] = [];
  readonly router: Router;
  readonly prober: Prober;
  readonly watchdog: Watchdog;
  readonly catalogue: Catalogue;
  nowMs = 1000;
  /** Nothing may throw where probes are told of; this rig's observer does. */
  isBroken = false;

  constructor(targets: readonly Target[], idleMs = 0) {
    const clock = { now: () => this.nowMs, monotonic: () => this.nowMs };
    const byModel = Map.groupBy(targets, ({ upstreamModel }) => upstreamModel);
    const models = [...byModel].map(([id, each]) => modelOf(each, id));
    this.catalogue = {
      revision: 1,
      keys: new Map(),
      groups: new Map(),
      models: new Map(models.map((model) => [model.id, model])),
      channels: new Map(),
      served: new Map(),
      rights: new Rights([]),
    };
    this.router = new Router({
      attemptsMax: 3,
      uniform: () => 0.5,
      hashCredential: (it) => it,
      onService: ({ upstreamModel }, change) => this.told.push(`${upstreamModel} ${change.kind}`),
    });
    this.watchdog = new Watchdog(clock);
    const upstream: Upstream = {
      line: (place) => ({ send: (_headers, body, _fresh, handler) => this.#send(place, body, handler) }),
    };
    const gateway = {
      ...new CallRig().gateway,
      catalogue: { current: this.catalogue },
      wires: new Wires(protocols, upstream),
      watchdog: this.watchdog,
      clock,
      observer: {
        callStarted: () => {},
        callFinished: () => {},
        refused: () => {},
        rescued: () => {},
        serviceChanged: () => {},
        probed: ({ channel }: Target, _modelId: string, { kind }: Outcome) => {
          if (this.isBroken) throw new Error('a bug of the observer');
          this.told.push(`${channel.id} ${kind}`);
        },
        alert: (kind: string) => this.told.push(kind),
        alertOver: () => {},
      },
    };
    this.prober = new Prober({ gateway, router: this.router, idleMs });
  }

  /** Takes a target out of service, and lets its time out pass. */
  eject(target: Target): void {
    for (let n = 0; n < 3; n++) this.call(target).noteEnd(refusedConnection, this.nowMs);
    this.told.length = 0;
    this.nowMs += 6000;
  }

  call(target: Target) {
    return this.router.attempt(target, asking(streamed, this.model(target)), this.nowMs);
  }

  model(target: Target) {
    const model = this.catalogue.models.get(target.upstreamModel);
    if (model === undefined) throw new Error('of another rig');
    return model;
  }

  /** Tells if a call would be sent there first, with a dear one beside it. */
  takesCalls(target: Target): boolean {
    const spare = targetOf({ id: 'spare', cost: priceOf(1000n) });
    const request = asking(streamed, modelOf([target, spare], target.upstreamModel));
    return this.router.route(request, this.nowMs).targets[0] === target;
  }

  answer(status: number, body: string, type = 'application/json'): void {
    const handler = this.sent.at(-1)?.handler;
    handler?.onHead({ status, headers: new Map([['content-type', type]]) });
    handler?.onData(Buffer.from(body));
    handler?.onEnd();
  }

  #send(call: UpstreamPlace, body: readonly Uint8Array[], handler: UpstreamHandler) {
    const sent: Sent = { call, body, handler, isAborted: false };
    this.sent.push(sent);
    return {
      pause: () => {},
      resume: () => {},
      gather: () => {},
      isSent: true,
      abort: () => {
        sent.isAborted = true;
      },
    };
  }
}

function named(upstreamModel: string, draft: Partial<TargetDraft> = {}): Target {
  return { ...targetOf({ id: 'c', cost: priceOf(1n), ...draft }), upstreamModel };
}

const one = named('m');

const token = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' }],
  usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
});
const nothingSaid = token.replace('"Hi"', '""');
const fault = '{"error":{"message":"no","type":"server_error"}}';

describe('a probe of what is out of service', () => {
  test('asks for one token in the language of the channel', () => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    const { call, body } = rig.sent[0] ?? {};
    expect(call).toMatchObject({ method: 'POST', path: '/chat/completions' });
    expect(JSON.parse(Buffer.concat(body ?? []).toString())).toMatchObject({ model: 'm' });
  });

  test('asks a model that always thinks for little thought, with room for it and time', () => {
    const reasoning: ModelFacts['reasoning'] = {
      ...one.facts.reasoning,
      mode: 'always',
      efforts: ['low', 'high'],
    };
    const thinker = { ...one, facts: { ...one.facts, reasoning } };
    const rig = new Rig([thinker]);
    rig.eject(thinker);
    rig.prober.tick();
    const body: unknown = JSON.parse(Buffer.concat(rig.sent[0]?.body ?? []).toString());
    expect(body).toMatchObject({ max_completion_tokens: 1_024, reasoning_effort: 'low' });
  });

  test.each([
    ['a token', 200, token, 'answered', true],
    ['a thought that was cut off', 200, nothingSaid, 'answered', true],
    ['a refusal of the request', 400, fault, 'refused', true],
    ['a model that is not there', 404, fault, 'refused', true],
    ['too many requests', 429, fault, 'refused', true],
    ['a fault', 500, fault, 'refused', false],
    ['a fault inside a success', 200, fault, 'refused', false],
    ['a page', 200, '<html>hello</html>', 'refused', false],
    ['nothing', 200, '', 'refused', false],
    ['a success in form only', 200, '{"object":"chat.completion","choices":[]}', 'refused', false],
  ] as const)('is answered by %s', (_name, status, body, result, isBack) => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    rig.answer(status, body);
    expect(rig.told).toEqual([`c ${result}`]);
    rig.nowMs += 100;
    expect(rig.router.probesDue(rig.model(one), rig.nowMs)).toEqual([]);
    // A target that is rate limited is there, but has no room: a cap says when.
    if (status !== 429) expect(rig.takesCalls(one)).toBe(isBack);
  });

  test('survives a bug of whoever hears of it, and the next one is sent', () => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    rig.isBroken = true;
    expect(() => rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: '' })).not.toThrow();
    expect(rig.told).toEqual(['bug']);
    expect(rig.router.inFlight(one)).toBe(0);
    rig.nowMs += 60_000;
    rig.prober.tick();
    expect(rig.sent).toHaveLength(2);
    expect(() => rig.prober.stop()).not.toThrow();
  });

  test('that is refused for its credential is told to the operator', () => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    rig.answer(401, '{"error":{"message":"bad key"}}');
    expect(rig.told).toEqual(['c refused', 'credential-refused']);
    expect(rig.takesCalls(one)).toBe(false);
  });

  test.each([
    ['reset', 'unreachable'],
    ['unreachable', 'unreachable'],
    ['connect-timeout', 'timed-out'],
    ['forbidden-address', 'unreachable'],
  ] as const)('that ends in %s fails', (kind, result) => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    rig.sent[0]?.handler.onFailure({ kind, detail: '' });
    expect(rig.told).toEqual([`c ${result}`]);
    expect(rig.takesCalls(one)).toBe(false);
  });

  test('waits as long as a call would for the first content, and no longer', () => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    rig.nowMs += 14_900;
    rig.watchdog.sweep();
    expect(rig.told).toEqual([]);
    rig.nowMs += 200;
    rig.watchdog.sweep();
    expect(rig.told).toEqual(['c timed-out']);
    expect(rig.sent[0]?.isAborted).toBe(true);
  });

  test('is under way once for each channel, and its success asks for the others at once', () => {
    const [a, b] = [named('a'), named('b')];
    const rig = new Rig([a, b]);
    rig.eject(a);
    rig.eject(b);
    rig.nowMs += 6000;
    rig.prober.tick();
    rig.prober.tick();
    expect(rig.sent).toHaveLength(1);
    rig.answer(200, token);
    expect(rig.sent).toHaveLength(2);
    rig.answer(200, token);
    expect([rig.takesCalls(a), rig.takesCalls(b)]).toEqual([true, true]);
  });

  test('is one of eight at the most', () => {
    const targets = Array.from({ length: 20 }, (_, n) => named(`m${n}`, { id: `c${n}` }));
    const rig = new Rig(targets);
    for (const target of targets) rig.eject(target);
    rig.prober.tick();
    expect(rig.sent).toHaveLength(8);
  });

  test('comes to whoever is back in spite of many that hang', () => {
    const hanging = Array.from({ length: 8 }, (_, n) => named('a', { id: `c${n}` }));
    const back = named('b', { id: 'z' });
    const rig = new Rig([...hanging, ...hanging.map((it) => ({ ...it, upstreamModel: 'b' })), back]);
    for (const { targets } of rig.catalogue.models.values()) for (const target of targets) rig.eject(target);
    rig.prober.tick();
    rig.nowMs += 15_000;
    rig.watchdog.sweep();
    rig.prober.tick();
    expect(rig.sent.map(({ call }) => call.channel.id).indexOf('z')).toBe(8);
  });

  test('ends with the process, and teaches nothing by that', () => {
    const rig = new Rig([one]);
    rig.eject(one);
    rig.prober.tick();
    rig.prober.stop();
    expect(rig.sent[0]?.isAborted).toBe(true);
    expect(rig.told).toEqual(['c shut-down']);
    rig.prober.tick();
    expect(rig.sent).toHaveLength(1);
    expect(rig.router.probesDue(rig.model(one), rig.nowMs)).toEqual([one]);
  });
});

describe('a probe of what nobody calls', () => {
  test('is sent when its time has come, and not before or again', () => {
    const rig = new Rig([one], 60_000);
    rig.call(one).noteEnd(answered(), rig.nowMs);
    rig.nowMs += 59_000;
    rig.prober.tick();
    expect(rig.sent).toHaveLength(0);
    rig.nowMs += 2000;
    rig.prober.tick();
    rig.answer(200, token);
    rig.prober.tick();
    expect(rig.sent).toHaveLength(1);
  });

  test('finds out in half a minute that it is dead', () => {
    const rig = new Rig([one], 60_000);
    rig.call(one).noteEnd(answered(), rig.nowMs);
    rig.nowMs += 60_000;
    for (let second = 0; second < 30; second++, rig.nowMs += 1000) {
      rig.prober.tick();
      rig.sent.pop()?.handler.onFailure({ kind: 'unreachable', detail: '' });
    }
    expect(rig.told.at(-1)).toBe('c unreachable');
    expect(rig.told).toContain('m ejected');
    expect(rig.takesCalls(one)).toBe(false);
  });

  test.each([400, 404, 429])('is not sent again and again to what answers with %i', (status) => {
    const rig = new Rig([one], 600_000);
    rig.call(one).noteEnd(refusedConnection, rig.nowMs);
    const probesAfterFailure = () => {
      const before = rig.sent.length;
      for (let second = 0; second < 60; second++, rig.nowMs += 1000) {
        const sent = rig.sent.length;
        rig.prober.tick();
        if (rig.sent.length > sent) rig.answer(status, fault);
      }
      return rig.sent.length - before;
    };
    expect(probesAfterFailure()).toBe(1);
    rig.call(one).noteEnd(refusedConnection, rig.nowMs);
    expect(probesAfterFailure()).toBe(1);
  });

  test('is thought of for some models in a second, and for all in turn', () => {
    const rig = new Rig(
      Array.from({ length: 60 }, (_, place) => named(`m${place}`)),
      600_000,
    );
    const look = vi.spyOn(rig.router, 'probeWorthwhile');
    rig.prober.tick();
    expect(look).toHaveBeenCalledTimes(25);
    rig.prober.tick();
    rig.prober.tick();
    expect(new Set(look.mock.calls.map(([{ id }]) => id)).size).toBe(60);
  });

  test('is not sent where nobody wants any', () => {
    const rig = new Rig([one]);
    rig.call(one).noteEnd(answered(), rig.nowMs);
    rig.nowMs += 86_400_000;
    rig.prober.tick();
    expect(rig.sent).toEqual([]);
  });
});

const idleMs = 60_000;

function priced(id: string, microUsd: bigint, rest: Partial<TargetDraft> = {}): Target {
  return targetOf({ id, cost: priceOf(microUsd), ...rest });
}

/** A router beside a prober, and what it has told of targets going out of service and coming back. */
function openRouter() {
  const told: string[] = [];
  const router = new Router({
    attemptsMax: 3,
    uniform: chance(1),
    hashCredential: (it) => it,
    onService: ({ channel }, change) => told.push(`${channel.id} ${change.kind}`),
  });
  return { router, told };
}

function callOnce(router: Router, target: Target, model: Model, nowMs: number, outcome: Outcome) {
  router.attempt(target, asking(streamed, model), nowMs).noteEnd(outcome, nowMs);
}

function eject(router: Router, target: Target, model: Model): void {
  for (let n = 0; n < 3; n++) callOnce(router, target, model, 0, refusedConnection);
}

const idle = (router: Router, models: readonly Model[], nowMs: number, afterMs = idleMs) =>
  router.probesIdle(models, nowMs, afterMs).map(({ target }) => target);

const idsOf = (targets: readonly Target[]) => targets.map(({ channel }) => channel.id);

describe('a target that was ejected', () => {
  const [cheap, dear] = [priced('cheap', 1n), priced('dear', 3n)];
  const model = modelOf([cheap, dear]);

  const firstOf = (router: Router, nowMs: number) =>
    idsOf(router.route(asking(streamed, model), nowMs).targets)[0];

  test('is asked by probes alone until one comes back well, and is told of when it goes and when it is back', () => {
    const { router, told } = openRouter();
    eject(router, cheap, model);
    expect(told).toEqual(['cheap ejected']);
    expect(router.probesDue(model, 3000)).toEqual([]);
    expect(router.probesDue(model, 7000)).toEqual([cheap]);
    expect(firstOf(router, 7000)).toBe('dear');
    router.probe(cheap, model, 7000).noteEnd(refusedConnection, 7100);
    expect(router.probesDue(model, 8000)).toEqual([]);
    const second = router.probe(cheap, model, 30_000);
    expect(router.probesDue(model, 30_100)).toEqual([]);
    second.noteEnd(answered(), 30_200);
    expect(firstOf(router, 30_300)).toBe('cheap');
    for (let n = 0; n < 2; n++) callOnce(router, cheap, model, 30_400, answered());
    expect(told).toEqual(['cheap ejected', 'cheap back']);
  });

  test.each(['invalid-request', 'rate-limited', 'model-missing', 'content-policy'] as const)(
    'that refuses a probe (%s) is there: a real call shows the rest',
    (kind) => {
      const { router } = openRouter();
      eject(router, cheap, model);
      router.probe(cheap, model, 7000).noteEnd(refusedWith(kind), 7100);
      expect(router.probesDue(model, 30_000)).toEqual([]);
      expect(firstOf(router, 30_000)).toBe('cheap');
      for (let n = 0; n < 3; n++) callOnce(router, cheap, model, 30_000, refusedConnection);
      expect(firstOf(router, 30_100)).toBe('dear');
    },
  );

  test('is left alone when a probe shows that its credential is refused', () => {
    const { router } = openRouter();
    eject(router, cheap, model);
    router.probe(cheap, model, 7000).noteEnd(refusedWith('credential'), 7100);
    expect(router.probesDue(model, 30_000)).toEqual([]);
    expect(firstOf(router, 30_000)).toBe('dear');
    expect(router.probesDue(model, 70_000)).toEqual([cheap]);
  });

  /** After an outage of so long, with a look once a second: until a probe finds that the target is back. */
  function foundAfterMs(outageMs: number): number {
    const { router } = openRouter();
    eject(router, cheap, model);
    for (let nowMs = 1000; nowMs < outageMs + 60_000; nowMs += 1000) {
      for (const target of router.probesDue(model, nowMs)) {
        const probe = router.probe(target, model, nowMs);
        if (nowMs >= outageMs) {
          probe.noteEnd(answered(), nowMs);
          return nowMs - outageMs;
        }
        probe.noteEnd(refusedConnection, nowMs);
      }
    }
    return Number.POSITIVE_INFINITY;
  }

  test('is found to be back within 6 s at first and within 16 s later, however often it was ejected', () => {
    const seconds = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => (from + n) * 1000);
    expect(Math.max(...seconds(1, 55).map(foundAfterMs))).toBeLessThanOrEqual(6000);
    expect(Math.max(...seconds(60, 400).map(foundAfterMs))).toBeLessThanOrEqual(16_000);
  });

  test('is not asked again at once when a call has only just timed out there', () => {
    const { router } = openRouter();
    eject(router, cheap, model);
    const slow = router.attempt(cheap, asking(streamed, model), 1000);
    slow.noteEnd(timedOut('first-content'), 31_000);
    expect(router.probesDue(model, 32_000)).toEqual([]);
    expect(router.probesDue(model, 37_000)).toEqual([cheap]);
  });

  test('of which no token can be asked is tried with a real call', () => {
    const images = priced('images', 1n, { protocols: { images: '/images' } });
    const { router } = openRouter();
    const ofImages = { ...modelOf([images, priced('dear', 3n)]), outputModalities: ['image'] };
    const request = { ...asking(streamed, ofImages), protocol: 'images' } as const;
    eject(router, images, ofImages);
    expect(router.probesDue(ofImages, 7000)).toEqual([]);
    expect(idsOf(router.route(request, 7000).targets)).toEqual(['images']);
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
        router
          .probe(target, model, nowMs)
          .noteEnd(target === down ? refusedConnection : answered(), nowMs + 5);
    }
    for (const target of router.route(asking(streamed, model), nowMs).targets) {
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
    router.probe(cheap, modelOf([cheap], 'm2'), 61_000).noteEnd(answered(), 61_100);
    expect(idle(router, models, 62_000)).toEqual([]);
    expect(idle(router, models, 111_000)).toEqual([other]);
  });

  test('is not asked beside an attempt that is waited for, nor behind one that was just given up', () => {
    const [silent, other] = [priced('a', 1n), priced('b', 2n)];
    const model = modelOf([silent, other]);
    const { router } = openRouter();
    const waiting = router.attempt(silent, asking(streamed, model), 0);
    callOnce(router, other, model, 80_000, answered());
    expect(idle(router, [model], 90_000)).toEqual([]);
    waiting.noteEnd(timedOut('first-content'), 91_000);
    expect(idle(router, [model], 91_000)).toEqual([]);
    expect(idle(router, [model], 100_900)).toEqual([]);
    expect(idle(router, [model], 101_100)).toEqual([silent]);
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
        router.probe(due, model, nowMs).noteEnd(refusedConnection, nowMs);
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
      probed.probe(target, model, n).noteEnd(answered({ inputFresh: 1, output: 1 }), n + 1);
    const ofB = (router: Router) =>
      router.explain(asking(streamed, model), 5000).candidates.find(({ channelId }) => channelId === 'b');
    expect(ofB(plain)).toBeDefined();
    expect(ofB(probed)?.parts).toEqual(ofB(plain)?.parts);
  });
});
