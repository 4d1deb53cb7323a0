import { LogHistogram, type Quantiles } from './latency.ts';
import type { Saved } from './saved.ts';
import { decayFactor } from './time.ts';

const inputTokensAssumed = 2000;
const outputTokensAssumed = 500;
const meanStep = 0.02;
const priceStep = 0.01;
const failureHalfLifeMs = 30_000;
const priorAttempts = 8;
const priorFailures = 0.4;
/** Probes of targets that nobody asks, for each call: their one token costs a thousandth of one. */
const probedShareMax = 0.2;
/** Attempts in a row that have failed, on whatever target: their trouble may be that of all of them. */
const stormRun = 6;
const hedgedShareMax = 0.03;
/** Calls that are looked back on when probes and second attempts beside a first are rationed. */
const callsRemembered = 1000;

type DemandNumber =
  | 'inputTokens'
  | 'outputTokens'
  | 'meanPrice'
  | 'attempts'
  | 'failures'
  | 'atMs'
  | 'calls'
  | 'probed'
  | 'hedged'
  | 'failuresInRow';

/** The traffic of one model, whichever target serves it. Times on a steady clock. */
export class Demand {
  inputTokens = inputTokensAssumed;
  outputTokens = outputTokensAssumed;
  readonly #firstContent = new LogHistogram();
  #meanPrice: number | null = null;
  #attempts = 0;
  #failures = 0;
  #failuresInRow = 0;
  #atMs = 0;
  #calls = 0;
  #probed = 0;
  #hedged = 0;

  /** `meanPrice`: of a mean call over all targets, at the prices of the moment; pico-dollars. */
  called(meanPrice: number): void {
    this.#meanPrice =
      this.#meanPrice === null ? meanPrice : this.#meanPrice + priceStep * (meanPrice - this.#meanPrice);
    this.#calls++;
    if (this.#calls < callsRemembered) return;
    this.#calls /= 2;
    this.#probed /= 2;
    this.#hedged /= 2;
  }

  /** The price of a mean call. It follows prices slowly: a channel that gets dearer does not make time dear at once. */
  get meanPrice(): number | null {
    return this.#meanPrice;
  }

  get mayProbe(): boolean {
    return this.#probed + 1 <= probedShareMax * this.#calls;
  }

  probed(): void {
    this.#probed++;
  }

  /** Tells if one more call may be sent to two targets at once. */
  get mayHedge(): boolean {
    return this.#hedged + 1 <= hedgedShareMax * this.#calls + 1;
  }

  hedged(): void {
    this.#hedged++;
  }

  used(inputTokens: number, outputTokens: number): void {
    this.inputTokens += meanStep * (inputTokens - this.inputTokens);
    this.outputTokens += meanStep * (outputTokens - this.outputTokens);
  }

  /** A stream has begun after so long, wherever. */
  began(afterMs: number, nowMs: number): void {
    this.#firstContent.note(afterMs, nowMs);
  }

  /** Null while too little is known. */
  firstContent(nowMs: number): Quantiles | null {
    return this.#firstContent.quantiles(nowMs);
  }

  attempted(nowMs: number, hasFailed: boolean): void {
    this.#decayTo(nowMs);
    this.#attempts++;
    if (hasFailed) this.#failures++;
    this.#failuresInRow = hasFailed ? this.#failuresInRow + 1 : 0;
  }

  /** Nothing has answered for long: a further attempt of a call is worth little where the last one failed, too. */
  get isStorm(): boolean {
    return this.#failuresInRow >= stormRun;
  }

  /**
   * The chance that so many more attempts fail as well. It is the model's, not that of the targets left: so the failures
   * of one target never make another one look better or worse.
   */
  lastHope(attemptsLeft: number, nowMs: number): number {
    this.#decayTo(nowMs);
    return ((this.#failures + priorFailures) / (this.#attempts + priorAttempts)) ** Math.max(0, attemptsLeft);
  }

  save(shiftMs: number): Saved<DemandNumber> {
    return {
      inputTokens: this.inputTokens,
      outputTokens: this.outputTokens,
      ...(this.#meanPrice !== null && { meanPrice: this.#meanPrice }),
      attempts: this.#attempts,
      failures: this.#failures,
      atMs: this.#atMs + shiftMs,
      calls: this.#calls,
      probed: this.#probed,
      hedged: this.#hedged,
      failuresInRow: this.#failuresInRow,
    };
  }

  restore(saved: Saved<DemandNumber>, shiftMs: number): void {
    if (saved.atMs === undefined) return;
    this.inputTokens = saved.inputTokens ?? inputTokensAssumed;
    this.outputTokens = saved.outputTokens ?? outputTokensAssumed;
    this.#meanPrice = saved.meanPrice ?? null;
    this.#attempts = saved.attempts ?? 0;
    this.#failures = saved.failures ?? 0;
    this.#atMs = saved.atMs + shiftMs;
    this.#calls = saved.calls ?? 0;
    this.#probed = saved.probed ?? 0;
    this.#hedged = saved.hedged ?? 0;
    this.#failuresInRow = saved.failuresInRow ?? 0;
  }

  #decayTo(nowMs: number): void {
    const left = decayFactor(nowMs - this.#atMs, failureHalfLifeMs);
    this.#atMs = nowMs;
    this.#attempts *= left;
    this.#failures *= left;
  }
}

const perCall = 0.2;
const perSecond = 1;
const budgetMax = 50;
const budgetAtStart = 10;

/**
 * Second attempts that may be spent while nothing looks healthy. It grows with calls and with time, and is spent only when
 * the best target left is more likely to fail than not: an unconditional budget refuses calls that healthy targets would serve.
 */
export class RetryBudget {
  #left = budgetAtStart;
  #atMs: number | null = null;

  called(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - (this.#atMs ?? nowMs));
    this.#atMs = nowMs;
    this.#left = Math.min(budgetMax, this.#left + perCall + (elapsedMs / 1000) * perSecond);
  }

  get canSpend(): boolean {
    return this.#left >= 1;
  }

  spend(): void {
    this.#left -= 1;
  }
}
