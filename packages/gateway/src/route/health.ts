import type { Saved } from './saved.ts';
import { decayFactor } from './time.ts';

const fastHalfLifeMs = 12_000;
const slowHalfLifeMs = 120_000;
const breakHalfLifeMs = 30_000;

/** A busy target is asked thousands of times a second, and fades in steps that make no difference. */
const stepMs = 20;

/** The belief about a target before anything is known: so many calls, of which this share succeeded. */
const priorCalls = 8;
const priorChance = 0.97;
/** About answers that break off next to nothing is believed, so that the first that does is taken for what it is. */
const priorAnswers = 1;
const priorBreaks = 0.01;
const chanceMin = 0.02;
const chanceMax = 0.9995;

/** Weights of what went well and what did not; one call weighs 1 when it happens and less with time. */
export interface Weights {
  readonly good: number;
  readonly bad: number;
}

class Tally {
  good = 0;
  bad = 0;

  decay(left: number): void {
    this.good *= left;
    this.bad *= left;
  }

  restore(good = 0, bad = 0): void {
    this.good = good;
    this.bad = bad;
  }
}

type HealthNumber =
  | 'atMs'
  | 'failureMs'
  | `${'fast' | 'slow'}${'Good' | 'Bad'}`
  // Answers that came to their end, and those that did not.
  | `${'fast' | 'slow'}${'Whole' | 'Broken'}`;

/** How often a target answers, and how often an answer of it breaks off. All of it fades; times on a steady clock. */
export class TargetHealth {
  readonly #fast = new Tally();
  readonly #slow = new Tally();
  readonly #breaksFast = new Tally();
  readonly #breaksSlow = new Tally();
  #atMs = 0;
  /** The time that a failure has cost lately; the first guess is that of a plain error. */
  failureMs = 800;

  /** First content has come. */
  succeeded(nowMs: number): void {
    this.#decayTo(nowMs);
    this.#fast.good++;
    this.#slow.good++;
    this.#breaksFast.good++;
    this.#breaksSlow.good++;
  }

  /** No content came, after so long. A weight of 2 is for failures that leave no doubt. */
  failed(nowMs: number, weight: number, lostMs: number): void {
    this.#decayTo(nowMs);
    this.#fast.bad += weight;
    this.#slow.bad += weight;
    this.failureMs += 0.2 * (lostMs - this.failureMs);
  }

  /** An answer broke off after its first content. */
  broke(nowMs: number): void {
    this.#decayTo(nowMs);
    this.#breaksFast.bad++;
    this.#breaksSlow.bad++;
  }

  /** Back after an ejection: what was bad before it says little of now. */
  forgive(nowMs: number): void {
    this.#decayTo(nowMs);
    this.#fast.good = Math.max(this.#fast.good, 3);
    this.#fast.bad = Math.min(this.#fast.bad, 1);
    this.#slow.bad /= 2;
  }

  /** The chance of an answer at the next call, from 0.02 to 0.9995: the worse of the last seconds and the last minutes. */
  chance(nowMs: number): number {
    const { good, bad } = this.#evidence(nowMs);
    return bounded(good / (good + bad));
  }

  /** A chance that is possible: one draw from what is known. */
  drawChance(nowMs: number, uniform: Uniform): number {
    const { good, bad } = this.#evidence(nowMs);
    return bounded(drawBeta(good, bad, uniform));
  }

  /** The share of answers that break off after first content. */
  breakShare(nowMs: number): number {
    this.#decayTo(nowMs);
    return Math.max(breakShareOf(this.#breaksFast), breakShareOf(this.#breaksSlow));
  }

  /** The evidence of the last seconds alone, without any prior belief. */
  recent(nowMs: number): Weights {
    this.#decayTo(nowMs);
    return this.#fast;
  }

  /** The evidence of the last minutes, without any prior belief. */
  lately(nowMs: number): Weights {
    this.#decayTo(nowMs);
    return { good: this.#slow.good, bad: this.#slow.bad };
  }

  /**
   * The share of failures to be expected when nothing has changed, from 0.02 to 0.95: what was seen before the run of
   * failures that is under way, in the last seconds or the last minutes.
   */
  usualFailureShare(nowMs: number, runWeight: number): number {
    this.#decayTo(nowMs);
    const share = ({ good, bad }: Weights) => {
      const before = withPrior({ good, bad: Math.max(0, bad - runWeight) });
      return before.bad / (before.good + before.bad);
    };
    return Math.min(0.95, Math.max(0.02, share(this.#fast), share(this.#slow)));
  }

  save(shiftMs: number): Saved<HealthNumber> {
    return {
      atMs: this.#atMs + shiftMs,
      failureMs: this.failureMs,
      fastGood: this.#fast.good,
      fastBad: this.#fast.bad,
      slowGood: this.#slow.good,
      slowBad: this.#slow.bad,
      fastWhole: this.#breaksFast.good,
      fastBroken: this.#breaksFast.bad,
      slowWhole: this.#breaksSlow.good,
      slowBroken: this.#breaksSlow.bad,
    };
  }

  restore(saved: Saved<HealthNumber>, shiftMs: number): void {
    if (saved.atMs === undefined) return;
    this.#atMs = saved.atMs + shiftMs;
    this.failureMs = saved.failureMs ?? this.failureMs;
    this.#fast.restore(saved.fastGood, saved.fastBad);
    this.#slow.restore(saved.slowGood, saved.slowBad);
    this.#breaksFast.restore(saved.fastWhole, saved.fastBroken);
    this.#breaksSlow.restore(saved.slowWhole, saved.slowBroken);
  }

  #evidence(nowMs: number): Weights {
    this.#decayTo(nowMs);
    const fast = withPrior(this.#fast);
    const slow = withPrior(this.#slow);
    return fast.good * slow.bad < slow.good * fast.bad ? fast : slow;
  }

  #decayTo(nowMs: number): void {
    const elapsedMs = nowMs - this.#atMs;
    if (elapsedMs < stepMs) return;
    this.#atMs = nowMs;
    const slowly = decayFactor(elapsedMs, slowHalfLifeMs);
    this.#fast.decay(decayFactor(elapsedMs, fastHalfLifeMs));
    this.#slow.decay(slowly);
    this.#breaksFast.decay(decayFactor(elapsedMs, breakHalfLifeMs));
    this.#breaksSlow.decay(slowly);
  }
}

function withPrior({ good, bad }: Weights): Weights {
  return { good: good + priorCalls * priorChance, bad: bad + priorCalls * (1 - priorChance) };
}

function breakShareOf({ good, bad }: Weights): number {
  return (bad + priorBreaks) / (Math.max(good, bad) + priorAnswers);
}

function bounded(chance: number): number {
  return Math.min(chanceMax, Math.max(chanceMin, chance));
}

/** Uniform in [0, 1), as `Random.next` of ports/clock.ts. */
export type Uniform = () => number;

/** A draw from Beta(successes, failures): how good a target may be, given so little is known (Thompson sampling). */
export function drawBeta(successes: number, failures: number, uniform: Uniform): number {
  const good = drawGamma(successes, uniform);
  const bad = drawGamma(failures, uniform);
  return good + bad > 0 ? good / (good + bad) : successes / (successes + failures);
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), with their step for shapes below 1. */
function drawGamma(shape: number, uniform: Uniform): number {
  if (shape < 1) return drawGamma(shape + 1, uniform) * (1 - uniform()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(uniform);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Box and Muller; the other one of the pair is not kept, so that a draw leaves no state behind. */
function drawNormal(uniform: Uniform): number {
  return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
