import {
  type ChannelSketch,
  type Condition,
  costOf,
  type Incident,
  perFailureUsd,
  perMsUsd,
} from './condition.ts';
import { EventQueue } from './event-queue.ts';
import type { Call, Policy, PolicyMaker } from './policy.ts';
import { SeededRandom } from './seeded-random.ts';
import { type AttemptListener, World } from './world.ts';

/** The happenings of a run, and how busy it is. Times in seconds. */
export interface Scene {
  readonly channels: readonly ChannelSketch[];
  /** Channels of each model. */
  readonly models: readonly (readonly number[])[];
  readonly incident: Incident;
  readonly priceChanges: readonly number[];
  readonly callsPerSecond: number;
  readonly from: number;
  readonly to: number;
  /** The part in which something happens; attempts are counted apart in it. */
  readonly window: { readonly from: number; readonly to: number };
}

/** The sums of one run. Money in dollars, times in milliseconds. */
export interface Measures {
  calls: number;
  answered: number;
  cost: number;
  /** Cost, waiting and failures, all in dollars. */
  loss: number;
  attempts: number;
  callsInWindow: number;
  attemptsInWindow: number;
  /** Attempts sent to channels that were down, and probes of no caller's. */
  onRefusing: number;
  onHung: number;
  probes: number;
  firstContentMs: number[];
}

const callMsMax = 60_000;
const probeEveryMs = 1000;

export function simulate(scene: Scene, make: PolicyMaker, seed: number): Measures {
  return new Simulation(scene, make, seed).run();
}

class Simulation {
  readonly #scene: Scene;
  readonly #queue: EventQueue;
  readonly #world: World;
  readonly #policy: Policy;
  readonly #arrivals: SeededRandom;
  readonly #measures: Measures = {
    calls: 0,
    answered: 0,
    cost: 0,
    loss: 0,
    attempts: 0,
    callsInWindow: 0,
    attemptsInWindow: 0,
    onRefusing: 0,
    onHung: 0,
    probes: 0,
    firstContentMs: [],
  };

  constructor(scene: Scene, make: PolicyMaker, seed: number) {
    this.#scene = scene;
    this.#queue = new EventQueue(scene.from * 1000);
    this.#world = new World(scene.channels, scene.incident, this.#queue, new SeededRandom(seed));
    this.#arrivals = new SeededRandom(seed * 7919 + 13);
    const { models, priceChanges } = scene;
    const { uniform } = new SeededRandom(seed * 104_729 + 7);
    this.#policy = make({ world: this.#world, models, priceChanges, uniform });
  }

  run(): Measures {
    this.#arriveNext();
    this.#probe();
    this.#queue.run();
    return this.#measures;
  }

  #arriveNext(): void {
    this.#queue.after(this.#arrivals.exponential(1000 / this.#scene.callsPerSecond), () => {
      if (this.#queue.nowMs >= this.#scene.to * 1000) return;
      this.#arrive();
      this.#arriveNext();
    });
  }

  #arrive(): void {
    const random = this.#arrivals;
    // Models are asked for by Zipf's law, nearly.
    const model = Math.floor(this.#scene.models.length ** random.uniform()) - 1;
    const call = {
      atMs: this.#queue.nowMs,
      model: this.#scene.models.length === 1 ? 0 : model,
      inputTokens: Math.min(100_000, Math.round(random.logNormal(1200, 1))),
      outputTokens: Math.max(5, Math.min(4000, Math.round(random.logNormal(270, 0.9)))),
      tried: new Set<number>(),
    };
    this.#measures.calls++;
    if (this.#isInWindow(call)) this.#measures.callsInWindow++;
    this.#try(call);
  }

  #try(call: Call): void {
    const { nowMs } = this.#queue;
    const isOver = nowMs - call.atMs > callMsMax;
    const channel = isOver ? null : this.#policy.choose(call, nowMs);
    if (channel === null) {
      this.#measures.loss += perFailureUsd;
      return;
    }
    if (typeof channel === 'object') return this.#queue.after(channel.waitMs, () => this.#try(call));
    this.#count(call, channel);
    call.tried.add(channel);
    const follower = this.#policy.sent(call, channel, nowMs);
    this.#world.attempt(channel, call, follower.patienceMs, this.#listen(call, follower));
  }

  #listen(call: Call, follower: ReturnType<Policy['sent']>): AttemptListener {
    let seen: Condition | null = null;
    return {
      began: (condition) => {
        seen = condition;
        follower.began(this.#queue.nowMs);
        this.#measures.firstContentMs.push(this.#queue.nowMs - call.atMs);
        this.#measures.loss += perMsUsd * (this.#queue.nowMs - call.atMs);
      },
      failed: (failure) => {
        follower.failed(failure, this.#queue.nowMs);
        this.#try(call);
      },
      ended: (isWhole) => {
        follower.ended(isWhole, this.#queue.nowMs);
        if (seen !== null) this.#settle(call, seen, isWhole);
      },
    };
  }

  #settle(call: Call, condition: Condition, isWhole: boolean): void {
    const cost = costOf(call, condition) * (isWhole ? 1 : 0.5);
    this.#measures.cost += cost;
    this.#measures.loss += isWhole ? cost : cost + perFailureUsd;
    if (isWhole) this.#measures.answered++;
  }

  #count(call: Call, channel: number): void {
    this.#measures.attempts++;
    if (this.#isInWindow(call)) this.#measures.attemptsInWindow++;
    const { down } = this.#world.conditionNow(channel);
    if (down === 'refused') this.#measures.onRefusing++;
    if (down === 'hung') this.#measures.onHung++;
  }

  #isInWindow({ atMs }: Call): boolean {
    const { from, to } = this.#scene.window;
    return atMs >= from * 1000 && atMs < to * 1000;
  }

  #probe(): void {
    const { nowMs } = this.#queue;
    for (const { channel, follower } of this.#policy.probes(nowMs)) {
      this.#measures.probes++;
      this.#world.attempt(channel, { inputTokens: 1, outputTokens: 1 }, follower.patienceMs, {
        began: () => follower.began(this.#queue.nowMs),
        failed: (failure) => follower.failed(failure, this.#queue.nowMs),
        ended: (isWhole) => follower.ended(isWhole, this.#queue.nowMs),
      });
    }
    if (nowMs < this.#scene.to * 1000) this.#queue.after(probeEveryMs, () => this.#probe());
  }
}
