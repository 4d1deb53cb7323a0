import type { Saved } from './saved.ts';
import { decayFactor } from './time.ts';

const rateHalfLifeMs = 3000;
const shrink = 0.7;
const grow = 1.1;
const growEveryMs = 2000;
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

interface Limit {
  left: number;
  readonly untilMs: number;
}

type CapacityNumber =
  | 'blockedUntilMs'
  | 'cap'
  | 'tokens'
  | 'tokensAtMs'
  | 'sent'
  | 'sentAtMs'
  | 'refusedAtMs'
  | 'grownAtMs'
  | 'requestsLeft'
  | 'requestsUntilMs'
  | 'tokensLeft'
  | 'tokensUntilMs';

export type CapacityState = 'free' | 'blocked' | 'capped' | 'no-headroom';

/** The calls a target can take, learned from its refusals and from its headers. Times on a steady clock. */
export class Capacity {
  #blockedUntilMs = 0;
  /** Calls per second. */
  #cap = Number.POSITIVE_INFINITY;
  #tokens = 0;
  #tokensAtMs = 0;
  #sent = 0;
  #sentAtMs = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #grownAtMs = 0;
  #requestLimit: Limit | null = null;
  #tokenLimit: Limit | null = null;

  state(nowMs: number, tokensNeeded: number): CapacityState {
    if (this.#blockedUntilMs > nowMs) return 'blocked';
    if (!covers(this.#requestLimit, 1, nowMs) || !covers(this.#tokenLimit, tokensNeeded, nowMs))
      return 'no-headroom';
    return this.#cap === Number.POSITIVE_INFINITY || this.#refill(nowMs) >= 1 ? 'free' : 'capped';
  }

  /** Tokens of a prompt that the upstream's own limit leaves room for. */
  roomTokens(nowMs: number): number {
    const limit = this.#tokenLimit;
    return limit === null || limit.untilMs <= nowMs ? Number.POSITIVE_INFINITY : limit.left;
  }

  get blockedUntilMs(): number {
    return this.#blockedUntilMs;
  }

  /** When more is left of the upstream's limits again; in the past when nothing is known to be short. */
  get resetsAtMs(): number {
    const limit = covers(this.#requestLimit, 1) ? this.#tokenLimit : this.#requestLimit;
    return limit?.untilMs ?? 0;
  }

  /** When a call fits under the learned cap. */
  freeAtMs(nowMs: number): number {
    if (this.#cap === Number.POSITIVE_INFINITY) return nowMs;
    return nowMs + (Math.max(0, 1 - this.#refill(nowMs)) * 1000) / this.#cap;
  }

  sent(nowMs: number, tokensEstimate: number): void {
    this.#decayRate(nowMs);
    this.#sent++;
    if (this.#cap < Number.POSITIVE_INFINITY) this.#tokens = Math.max(-1, this.#refill(nowMs) - 1);
    if (this.#requestLimit !== null) this.#requestLimit.left -= 1;
    if (this.#tokenLimit !== null) this.#tokenLimit.left -= tokensEstimate;
  }

  /** 429. With the time it names the target is left alone until then; the cap says how fast it is asked afterwards. */
  refused(nowMs: number, waitMs: number | null): void {
    if (waitMs !== null) this.block(nowMs, waitMs);
    if (nowMs - this.#refusedAtMs > burstMs) {
      this.#decayRate(nowMs);
      const rate = Math.max(rateMin, (this.#sent * Math.LN2 * 1000) / rateHalfLifeMs);
      this.#cap = Math.max(capMin, Math.min(this.#cap, rate) * shrink);
      this.#tokens = 0;
      this.#tokensAtMs = nowMs;
      this.#refusedAtMs = nowMs;
    }
    this.#grownAtMs = nowMs;
  }

  block(nowMs: number, waitMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, nowMs + waitMs);
  }

  succeeded(nowMs: number): void {
    if (this.#cap === Number.POSITIVE_INFINITY || nowMs - this.#grownAtMs < growEveryMs) return;
    this.#grownAtMs = nowMs;
    this.#cap = nowMs - this.#refusedAtMs > forgetAfterMs ? Number.POSITIVE_INFINITY : this.#cap * grow;
  }

  /** The upstream has told its limits with an answer. */
  told({ requests, tokens }: Headroom, nowMs: number): void {
    this.#requestLimit = requests && { left: requests.left, untilMs: nowMs + requests.resetMs };
    this.#tokenLimit = tokens && { left: tokens.left, untilMs: nowMs + tokens.resetMs };
  }

  save(shiftMs: number): Saved<CapacityNumber> {
    const requests = this.#requestLimit;
    const tokens = this.#tokenLimit;
    return {
      blockedUntilMs: this.#blockedUntilMs + shiftMs,
      cap: this.#cap,
      tokens: this.#tokens,
      tokensAtMs: this.#tokensAtMs + shiftMs,
      sent: this.#sent,
      sentAtMs: this.#sentAtMs + shiftMs,
      refusedAtMs: this.#refusedAtMs + shiftMs,
      grownAtMs: this.#grownAtMs + shiftMs,
      ...(requests !== null && { requestsLeft: requests.left, requestsUntilMs: requests.untilMs + shiftMs }),
      ...(tokens !== null && { tokensLeft: tokens.left, tokensUntilMs: tokens.untilMs + shiftMs }),
    };
  }

  restore(saved: Saved<CapacityNumber>, shiftMs: number): void {
    if (saved.blockedUntilMs === undefined) return;
    this.#blockedUntilMs = saved.blockedUntilMs + shiftMs;
    this.#cap = saved.cap ?? Number.POSITIVE_INFINITY;
    this.#tokens = saved.tokens ?? 0;
    this.#tokensAtMs = (saved.tokensAtMs ?? 0) + shiftMs;
    this.#sent = saved.sent ?? 0;
    this.#sentAtMs = (saved.sentAtMs ?? 0) + shiftMs;
    this.#refusedAtMs = (saved.refusedAtMs ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.#grownAtMs = (saved.grownAtMs ?? 0) + shiftMs;
    this.#requestLimit = limitOf(saved.requestsLeft, saved.requestsUntilMs, shiftMs);
    this.#tokenLimit = limitOf(saved.tokensLeft, saved.tokensUntilMs, shiftMs);
  }

  #refill(nowMs: number): number {
    const gained = ((nowMs - this.#tokensAtMs) * this.#cap) / 1000;
    this.#tokens = Math.min(Math.max(1, this.#cap), this.#tokens + gained);
    this.#tokensAtMs = nowMs;
    return this.#tokens;
  }

  #decayRate(nowMs: number): void {
    this.#sent *= decayFactor(nowMs - this.#sentAtMs, rateHalfLifeMs);
    this.#sentAtMs = nowMs;
  }
}

/** Without a time: as long as it holds. */
function covers(limit: Limit | null, needed: number, nowMs = Number.NEGATIVE_INFINITY): boolean {
  return limit === null || limit.untilMs <= nowMs || limit.left >= needed;
}

function limitOf(left: number | undefined, untilMs: number | undefined, shiftMs: number): Limit | null {
  return left === undefined || untilMs === undefined ? null : { left, untilMs: untilMs + shiftMs };
}
