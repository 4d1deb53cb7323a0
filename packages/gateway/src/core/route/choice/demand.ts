import { decayFactor } from '../target/decay.ts';
import { LogHistogram, type Quantiles } from '../target/log-histogram.ts';
import type { Saved } from '../target/saved.ts';

const inputTokensAssumed = 2000;
const outputTokensAssumed = 500;
const meanStep = 0.02;
const priceStep = 0.01;
const failureHalfLifeMs = 30_000;
const priorAttempts = 8;
const priorFailures = 0.4;
const exploredShareMax = 0.02;
/** Probes of targets that nobody asks, for each call: their one token costs a thousandth of one. */
const probedShareMax = 0.2;
/** So many attempts in a row have failed, on whatever target: what is wrong may be wrong with all of them. */
const stormRun = 6;
const hedgedShareMax = 0.03;
/** So many calls are looked back on when exploration and second attempts beside a first are rationed. */
const callsRemembered = 1000;

type DemandNumber =
  | 'inputTokens'
  | 'outputTokens'
  | 'meanPrice'
  | 'attempts'
  | 'failures'
  | 'atMs'
  | 'calls'
  | 'explored'
  | 'probed'
  | 'hedged'
  | 'failuresInRow';

/** What calls of one model are like, whichever target serves them. Times on a steady clock. */
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
  #explored = 0;
  #probed = 0;
  #hedged = 0;

  /** `meanPrice`: of a mean call over all targets, at the prices of the moment; pico-dollars. */
  called(meanPrice: number): void {
    this.#meanPrice =
      this.#meanPrice === null ? meanPrice : this.#meanPrice + priceStep * (meanPrice - this.#meanPrice);
    this.#calls++;
    if (this.#calls < callsRemembered) return;
    this.#calls /= 2;
    this.#explored /= 2;
    this.#probed /= 2;
    this.#hedged /= 2;
  }

  /** What a call costs on average. It follows prices slowly: a channel that gets dearer does not make time dear at once. */
  get meanPrice(): number | null {
    return this.#meanPrice;
  }

  get mayExplore(): boolean {
    return this.#explored + 1 <= exploredShareMax * this.#calls + 1;
  }

  explored(): void {
    this.#explored++;
  }

  get mayProbe(): boolean {
    return this.#probed + 1 <= probedShareMax * this.#calls;
  }

  probed(): void {
    this.#probed++;
  }

  /** Whether one more call may be sent to two targets at once. */
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
      explored: this.#explored,
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
    this.#explored = saved.explored ?? 0;
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
