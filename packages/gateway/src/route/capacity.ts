import { restoreNumbers, type Saved, saveNumbers } from './saved.ts';
import { decayFactor } from './time.ts';

const rateHalfLifeMs = 3000;
const shrink = 0.7;
const grow = 1.1;
const growEveryMs = 2000;
/** After so long without a refusal the cap is far from the truth, and grows fast. */
const growFastAfterMs = 10_000;
const growFast = 2;
/** A cap that has held for so long is no longer believed in. */
const forgetAfterMs = 120_000;
/** Calls per second: below these a cap would be no more than a guess. */
const rateMin = 0.3;
const capMin = 0.2;
/** Refusals within this are answers to one burst. */
const burstMs = 1000;

/** The rest of one of an upstream's limits, as it says, until that resets. */
export interface Allowance {
  readonly left: number;
  readonly resetMs: number;
}

/** Null where it says nothing. */
export interface Headroom {
  readonly requests: Allowance | null;
  readonly tokens: Allowance | null;
}

/** The numbers of a capacity that are kept for the next process. */
const inTheBeginning = {
  blockedUntilMs: 0,
  /** Calls per second. */
  cap: Number.POSITIVE_INFINITY,
  tokens: 0,
  tokensAtMs: 0,
  sent: 0,
  sentAtMs: 0,
  refusedAtMs: Number.NEGATIVE_INFINITY,
  grownAtMs: 0,
  // The rest of the upstream's own limits, which hold until then.
  requestsLeft: 0,
  requestsUntilMs: Number.NEGATIVE_INFINITY,
  tokensLeft: 0,
  tokensUntilMs: Number.NEGATIVE_INFINITY,
};

type CapacityNumber = keyof typeof inTheBeginning;

const times = [
  'blockedUntilMs',
  'tokensAtMs',
  'sentAtMs',
  'refusedAtMs',
  'grownAtMs',
  'requestsUntilMs',
  'tokensUntilMs',
] as const;

export type CapacityState = 'free' | 'blocked' | 'capped' | 'no-headroom';

/** The calls a target can take, learned from its refusals and from its headers. Times on a steady clock. */
export class Capacity {
  readonly #now = { ...inTheBeginning };

  state(nowMs: number, tokensNeeded: number): CapacityState {
    if (this.#now.blockedUntilMs > nowMs) return 'blocked';
    const { requestsLeft, requestsUntilMs, tokensLeft, tokensUntilMs } = this.#now;
    const isShort =
      (requestsUntilMs > nowMs && requestsLeft < 1) || (tokensUntilMs > nowMs && tokensLeft < tokensNeeded);
    if (isShort) return 'no-headroom';
    return this.#now.cap === Number.POSITIVE_INFINITY || this.#refill(nowMs) >= 1 ? 'free' : 'capped';
  }

  /** The operator says that the limit is over: what was learned of it is. */
  lift(): void {
    Object.assign(this.#now, inTheBeginning);
  }

  /** Tokens of a prompt that the upstream's own limit leaves room for. */
  roomTokens(nowMs: number): number {
    return this.#now.tokensUntilMs <= nowMs ? Number.POSITIVE_INFINITY : this.#now.tokensLeft;
  }

  get blockedUntilMs(): number {
    return this.#now.blockedUntilMs;
  }

  /** When more is left of the upstream's limits again; in the past when nothing is known to be short. */
  get resetsAtMs(): number {
    const { requestsLeft, requestsUntilMs, tokensUntilMs } = this.#now;
    const isLimited = requestsUntilMs > Number.NEGATIVE_INFINITY && requestsLeft < 1;
    return Math.max(0, isLimited ? requestsUntilMs : tokensUntilMs);
  }

  /** When a call fits under the learned cap. */
  freeAtMs(nowMs: number): number {
    if (this.#now.cap === Number.POSITIVE_INFINITY) return nowMs;
    return nowMs + (Math.max(0, 1 - this.#refill(nowMs)) * 1000) / this.#now.cap;
  }

  sent(nowMs: number, tokensEstimate: number): void {
    this.#decayRate(nowMs);
    this.#now.sent++;
    if (this.#now.cap < Number.POSITIVE_INFINITY) this.#now.tokens = Math.max(-1, this.#refill(nowMs) - 1);
    this.#now.requestsLeft -= 1;
    this.#now.tokensLeft -= tokensEstimate;
  }

  /** 429. With the time it names the target is left alone until then; the cap says how fast it is asked afterwards. */
  refused(nowMs: number, waitMs: number | null): void {
    if (waitMs !== null) this.block(nowMs, waitMs);
    if (nowMs - this.#now.refusedAtMs > burstMs) {
      this.#decayRate(nowMs);
      const rate = Math.max(rateMin, (this.#now.sent * Math.LN2 * 1000) / rateHalfLifeMs);
      this.#now.cap = Math.max(capMin, Math.min(this.#now.cap, rate) * shrink);
      this.#now.tokens = 0;
      this.#now.tokensAtMs = nowMs;
      this.#now.refusedAtMs = nowMs;
    }
    this.#now.grownAtMs = nowMs;
  }

  block(nowMs: number, waitMs: number): void {
    this.#now.blockedUntilMs = Math.max(this.#now.blockedUntilMs, nowMs + waitMs);
  }

  succeeded(nowMs: number): void {
    if (this.#now.cap === Number.POSITIVE_INFINITY || nowMs - this.#now.grownAtMs < growEveryMs) return;
    this.#now.grownAtMs = nowMs;
    const unrefusedMs = nowMs - this.#now.refusedAtMs;
    const growth = unrefusedMs > growFastAfterMs ? growFast : grow;
    this.#now.cap = unrefusedMs > forgetAfterMs ? Number.POSITIVE_INFINITY : this.#now.cap * growth;
  }

  /** The upstream has told its limits with an answer. */
  told({ requests, tokens }: Headroom, nowMs: number): void {
    this.#now.requestsLeft = requests?.left ?? 0;
    this.#now.requestsUntilMs = nowMs + (requests?.resetMs ?? Number.NEGATIVE_INFINITY);
    this.#now.tokensLeft = tokens?.left ?? 0;
    this.#now.tokensUntilMs = nowMs + (tokens?.resetMs ?? Number.NEGATIVE_INFINITY);
  }

  save(shiftMs: number): Saved<CapacityNumber> {
    return saveNumbers(this.#now, times, shiftMs);
  }

  restore(saved: Saved<CapacityNumber>, shiftMs: number): void {
    restoreNumbers(this.#now, times, saved, shiftMs);
  }

  #refill(nowMs: number): number {
    const gained = ((nowMs - this.#now.tokensAtMs) * this.#now.cap) / 1000;
    this.#now.tokens = Math.min(Math.max(1, this.#now.cap), this.#now.tokens + gained);
    this.#now.tokensAtMs = nowMs;
    return this.#now.tokens;
  }

  #decayRate(nowMs: number): void {
    this.#now.sent *= decayFactor(nowMs - this.#now.sentAtMs, rateHalfLifeMs);
    this.#now.sentAtMs = nowMs;
  }
}
