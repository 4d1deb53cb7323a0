import { LogHistogram, type Quantiles } from './latency.ts';
import { restoreNumbers, type Saved, saveNumbers } from './saved.ts';
import { decayFactor } from './time.ts';

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

/** The numbers of a model's traffic that are kept for the next process. */
const inTheBeginning = {
  inputTokens: 2000,
  outputTokens: 500,
  meanPrice: Number.NaN,
  attempts: 0,
  failures: 0,
  atMs: 0,
  calls: 0,
  probed: 0,
  hedged: 0,
  failuresInRow: 0,
};

type DemandNumber = keyof typeof inTheBeginning;

const times = ['atMs'] as const;

/** The traffic of one model, whichever target serves it. Times on a steady clock. */
export class Demand {
  readonly #now = { ...inTheBeginning };
  readonly #firstContent = new LogHistogram();

  get inputTokens(): number {
    return this.#now.inputTokens;
  }

  get outputTokens(): number {
    return this.#now.outputTokens;
  }

  /** `meanPrice`: of a mean call over all targets, at the prices of the moment; pico-dollars. */
  called(meanPrice: number): void {
    const before = this.meanPrice ?? meanPrice;
    this.#now.meanPrice = before + priceStep * (meanPrice - before);
    this.#now.calls++;
    if (this.#now.calls < callsRemembered) return;
    this.#now.calls /= 2;
    this.#now.probed /= 2;
    this.#now.hedged /= 2;
  }

  /** The price of a mean call. It follows prices slowly: a channel that gets dearer does not make time dear at once. */
  get meanPrice(): number | null {
    return Number.isNaN(this.#now.meanPrice) ? null : this.#now.meanPrice;
  }

  get mayProbe(): boolean {
    return this.#now.probed + 1 <= probedShareMax * this.#now.calls;
  }

  probed(): void {
    this.#now.probed++;
  }

  /** Tells if one more call may be sent to two targets at once. */
  get mayHedge(): boolean {
    return this.#now.hedged + 1 <= hedgedShareMax * this.#now.calls + 1;
  }

  hedged(): void {
    this.#now.hedged++;
  }

  used(inputTokens: number, outputTokens: number): void {
    this.#now.inputTokens += meanStep * (inputTokens - this.inputTokens);
    this.#now.outputTokens += meanStep * (outputTokens - this.outputTokens);
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
    this.#now.attempts++;
    if (hasFailed) this.#now.failures++;
    this.#now.failuresInRow = hasFailed ? this.#now.failuresInRow + 1 : 0;
  }

  /** Nothing has answered for long: a further attempt of a call is worth little where the last one failed, too. */
  get isStorm(): boolean {
    return this.#now.failuresInRow >= stormRun;
  }

  /**
   * The chance that so many more attempts fail as well. It is the model's, not that of the targets left: so the failures
   * of one target never make another one look better or worse.
   */
  lastHope(attemptsLeft: number, nowMs: number): number {
    this.#decayTo(nowMs);
    return (
      ((this.#now.failures + priorFailures) / (this.#now.attempts + priorAttempts)) **
      Math.max(0, attemptsLeft)
    );
  }

  save(shiftMs: number): Saved<DemandNumber> {
    return saveNumbers(this.#now, times, shiftMs);
  }

  restore(saved: Saved<DemandNumber>, shiftMs: number): void {
    restoreNumbers(this.#now, times, saved, shiftMs);
  }

  #decayTo(nowMs: number): void {
    const left = decayFactor(nowMs - this.#now.atMs, failureHalfLifeMs);
    this.#now.atMs = nowMs;
    this.#now.attempts *= left;
    this.#now.failures *= left;
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
