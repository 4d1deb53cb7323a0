import { type Facts, noUsage } from '@headgate/protocols';
import { modelOf, targetOf } from '../../packages/gateway/src/catalogue/catalogue.fixture.ts';
import { plainRouting } from '../../packages/gateway/src/catalogue/catalogue.ts';
import { encodeRoute } from '../../packages/gateway/src/route/explain.ts';
import type { Outcome } from '../../packages/gateway/src/route/outcomes.ts';
import type { RouteRequest } from '../../packages/gateway/src/route/route.ts';
import { Router } from '../../packages/gateway/src/route/router.ts';
import { priceNow } from './headgate.ts';
import { SeededRandom } from './seeded-random.ts';

const warmUpCalls = 8000;
const batches = 12;
/** The clock of a thread is read in steps of some milliseconds. */
const batchMs = 80;
/** Calls under way at once. */
const concurrency = 32;
const callEveryMs = 0.5;

/** The cost of routing one call over so many channels of one model; microseconds of this thread's CPU. */
export interface RoutingTime {
  readonly channels: number;
  readonly callUs: number;
  /** One look of the prober at the model, milliseconds. */
  readonly probingMs: number;
}

/**
 * All that a call asks of the router: a plan, the attempt followed from its beginning to its end, and the plan put into words
 * for the entry. Every channel has a history, calls overlap, and one answer in a hundred is a failure. The best of many short
 * batches: a busy machine slows some of them.
 */
export function routingTime(channels: number): RoutingTime {
  const bench = new Bench(channels);
  for (let n = 0; n < warmUpCalls; n++) bench.callOnce();
  const callUs = bestUs(() => bench.callOnce());
  const probingMs = bestUs(() => bench.probe()) / 1000;
  return { channels, callUs, probingMs };
}

class Bench {
  readonly #random = new SeededRandom(1);
  readonly #router: Router;
  readonly #ask: RouteRequest;
  readonly #underWay: (() => void)[] = [];
  #nowMs = 0;

  constructor(channels: number) {
    this.#router = new Router({
      attemptsMax: 3,
      uniform: this.#random.uniform,
      hashCredential: (secret) => secret,
    });
    const targets = Array.from({ length: channels }, (_, place) =>
      targetOf({
        id: String(place).padStart(4, '0'),
        cost: priceNow(this.#random.betweenRatios(0.5, 1.5)),
      }),
    );
    this.#ask = {
      facts,
      model: modelOf(targets),
      protocol: 'chat-completions',
      routing: plainRouting,
      accountId: 'bench',
      asItIs: false,
      session: () => null,
    };
    for (const target of targets) this.#send(target);
  }

  callOnce(): void {
    this.#nowMs += callEveryMs;
    const plan = this.#router.route(this.#ask, this.#nowMs);
    const [target] = plan.targets;
    if (target !== undefined) this.#send(target);
    encodeRoute([{ route: plan, attemptsBefore: 0, protocol: null }]);
  }

  probe(): void {
    this.#nowMs += 1000;
    this.#router.probesDue(this.#ask.model, this.#nowMs);
    this.#router.probeWorthwhile(this.#ask.model, this.#nowMs);
    this.#router.probesIdle([this.#ask.model], this.#nowMs, 60_000);
  }

  #send(target: RouteRequest['model']['targets'][number]): void {
    const routed = this.#router.attempt(target, this.#ask, this.#nowMs);
    const outcome = this.#random.uniform() < 0.01 ? failed : answered;
    this.#underWay.push(() => {
      if (outcome === answered) routed.noteFirstContent(this.#nowMs);
      routed.noteEnd(outcome, this.#nowMs);
    });
    if (this.#underWay.length > concurrency) this.#underWay.shift()?.();
  }
}

function bestUs(work: () => void): number {
  const batchUs = Array.from({ length: batches }, () => {
    // The time of this thread alone: other work on the machine is none of routing.
    const before = process.threadCpuUsage();
    const until = performance.now() + batchMs;
    let times = 0;
    for (; performance.now() < until; times += 10) for (let n = 0; n < 10; n++) work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / times;
  });
  return Math.min(...batchUs);
}

const facts: Facts = {
  model: 'demo',
  stream: true,
  maxOutputTokens: null,
  inputTokensEstimate: 1000,
  choices: 1,
  needs: new Set(),
};

const failed: Outcome = {
  kind: 'refused',
  refusal: { kind: 'server-error', status: 500, message: '', type: null, code: null, param: null },
  retryAfterMs: null,
};

const answered: Outcome = {
  kind: 'answered',
  reading: {
    usage: { ...noUsage, inputFresh: 1000, output: 300 },
    finishReason: 'stop',
    finishReasonRaw: 'stop',
    modelServed: null,
    hasOutput: true,
    outputBytes: 1200,
    usageAtOutputBytes: 1200,
  },
};
