import { type ChannelSketch, type Condition, conditionOf, type Incident, type Sizes } from './condition.ts';
import type { EventQueue } from './event-queue.ts';
import type { SeededRandom } from './seeded-random.ts';

export type Failure =
  | { readonly kind: 'refused' | 'timed-out' | 'server-error' }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number | null };

/** Told once of each: content and then the end, or the failure alone. */
export interface AttemptListener {
  failed(failure: Failure): void;
  began(condition: Condition): void;
  ended(isWhole: boolean): void;
}

/** The upstreams: limited, slow, and now and then out of order. */
export class World {
  readonly channels: readonly ChannelSketch[];
  readonly #incident: Incident;
  readonly #queue: EventQueue;
  readonly #random: SeededRandom;
  readonly #buckets: { tokens: number; atMs: number }[];

  constructor(
    channels: readonly ChannelSketch[],
    incident: Incident,
    queue: EventQueue,
    random: SeededRandom,
  ) {
    this.channels = channels;
    this.#incident = incident;
    this.#queue = queue;
    this.#random = random;
    this.#buckets = channels.map(({ callsPerSecond }) => ({ tokens: callsPerSecond, atMs: queue.nowMs }));
  }

  conditionNow(channel: number): Condition {
    const sketch = this.channels[channel];
    if (sketch === undefined) throw new Error(`no channel ${channel}`);
    const condition = conditionOf(sketch);
    this.#incident(channel, this.#queue.nowMs / 1000, condition);
    return condition;
  }

  /** Tells if the channel's rate limit lets one more call through. */
  hasRoom(channel: number, condition: Condition): boolean {
    const bucket = this.#buckets[channel];
    if (bucket === undefined) return false;
    const { callsPerSecond } = condition;
    const gained = ((this.#queue.nowMs - bucket.atMs) * callsPerSecond) / 1000;
    bucket.tokens = Math.min(Math.max(1, callsPerSecond), bucket.tokens + gained);
    bucket.atMs = this.#queue.nowMs;
    return bucket.tokens >= 1;
  }

  attempt(channel: number, sizes: Sizes, patienceMs: number, listener: AttemptListener): void {
    const condition = this.conditionNow(channel);
    const random = this.#random;
    const fail = (afterMs: number, failure: Failure) =>
      this.#queue.after(afterMs, () => listener.failed(failure));
    if (condition.down === 'refused') return fail(random.between(50, 150), { kind: 'refused' });
    if (condition.down === 'hung') return fail(patienceMs, { kind: 'timed-out' });
    if (!this.#takeRoom(channel, condition))
      return fail(random.between(150, 300), { kind: 'rate-limited', retryAfterMs: condition.retryAfterMs });
    if (random.uniform() < condition.errorShare)
      return fail(200 + random.exponential(800), { kind: 'server-error' });
    const firstContentMs = random.logNormal(condition.firstContentMs, condition.sigma);
    if (firstContentMs > patienceMs) return fail(patienceMs, { kind: 'timed-out' });
    this.#queue.after(firstContentMs, () => this.#answer(sizes, condition, listener));
  }

  #answer({ outputTokens }: Sizes, condition: Condition, listener: AttemptListener): void {
    listener.began(condition);
    const isWhole = this.#random.uniform() >= condition.breakShare;
    const durationMs = (outputTokens * 1000) / condition.tokensPerSecond;
    const untilMs = isWhole ? durationMs : durationMs * this.#random.uniform();
    this.#queue.after(untilMs, () => listener.ended(isWhole));
  }

  #takeRoom(channel: number, condition: Condition): boolean {
    const bucket = this.#buckets[channel];
    if (bucket === undefined || !this.hasRoom(channel, condition)) return false;
    bucket.tokens -= 1;
    return true;
  }
}
