import type { Facts } from '@headgate/protocols';
import type { RoutingPreset } from '../../catalogue.ts';
import { type Cache, type Session, sessionPrice } from '../session/affinity.ts';
import type { Uniform } from '../target/beta-draw.ts';
import type { Candidate } from '../target/candidates.ts';
import type { Scored, ScoredInFull, Scores } from './considered.ts';
import type { Demand } from './demand.ts';
import { type PriceRates, ratesFor } from './price-rates.ts';
import {
  costOfFailure,
  costOfSuccess,
  type Prospect,
  type Stakes,
  scoreAt,
  scoreParts,
  stakesOf,
} from './score.ts';
import { drawPlace, weightsOf } from './selection.ts';

interface Circumstances {
  /** Every candidate of the model, ready or not: what a call costs on average does not change with their health. */
  readonly all: readonly Candidate[];
  readonly demand: Demand;
  readonly facts: Facts;
  readonly session: Session | null;
  /** Where a prompt of the session would be looked for. */
  readonly cacheOf: (candidate: Candidate) => Cache;
  readonly preset: RoutingPreset;
  /** Targets that have failed this call. */
  readonly tried: number;
  /** Attempts that are left after this one. */
  readonly attemptsAfter: number;
  readonly uniform: Uniform;
  /** Whether a chance that is not known well is drawn from what is known; else it is what is expected. */
  readonly draws: boolean;
  readonly nowMs: number;
}

/** A target that would be so many times dearer than the best, were it certain to answer, has no share worth a draw: e⁻⁶. */
const hopelessRatio = 1.3;
/** A target whose price alone is so many times the best score would have little share whatever else it showed: e⁻². */
const reach = 1.1;
/** Where failures are expected to cost less than this share of the best score, their chance needs no finding out. */
const triflingShare = 0.01;
/** What a call is taken to be worth where nothing costs anything, and time is all that counts: a tenth of a cent. */
const freeCallWorth = 1e9;

/** The scores of the targets that may be asked, for one attempt of one call. */
export class Appraisal implements Scores {
  readonly #ready: readonly Candidate[];
  readonly #circumstances: Circumstances;
  readonly #stakes: Stakes;
  /** Assumed where none is known; pico-dollars. */
  readonly #unknownPrice: number;
  readonly #tiers: number[] = [];
  readonly #prices: number[] = [];
  readonly #chances: number[] = [];
  readonly #scores: readonly number[];
  /** The best one there is. */
  readonly #tier: number;

  constructor(ready: readonly Candidate[], circumstances: Circumstances) {
    this.#ready = ready;
    this.#circumstances = circumstances;
    const stakes = stakesFor(circumstances);
    const unknownPrice = areAllKnown(ready) ? 0 : 2 * dearestOf(circumstances);
    this.#stakes = stakes;
    this.#unknownPrice = unknownPrice;
    const [successes, failures]: [number[], number[]] = [[], []];
    for (const candidate of ready) {
      const prospect = prospectOf(candidate, circumstances, unknownPrice);
      this.#prices.push(prospect.price);
      this.#chances.push(prospect.chance);
      successes.push(costOfSuccess(prospect, stakes));
      failures.push(costOfFailure(prospect, stakes));
      this.#tiers.push(candidate.target.channel.priority);
    }
    this.#tier = this.#tierAfter(Number.NEGATIVE_INFINITY);
    const scores = scoresAt(this.#chances, successes, failures);
    // The last attempt takes what is likely; those before it can afford to find out.
    if (circumstances.draws && circumstances.attemptsAfter > 0)
      redraw(scores, ready, successes, failures, circumstances);
    this.#scores = scores;
  }

  get count(): number {
    return this.#ready.length;
  }

  ranked(count: number): readonly Scored[] {
    const weights = this.#weights();
    let sum = 0;
    for (const weight of weights) sum += weight;
    const ranked: Scored[] = [];
    for (const place of this.#placesInOrder()) {
      const candidate = this.#ready[place];
      if (candidate === undefined || ranked.length >= count) break;
      ranked.push({
        candidate,
        tier: this.#tiers[place] ?? Number.NaN,
        score: this.#scores[place] ?? Number.NaN,
        chance: this.#chances[place] ?? Number.NaN,
        share: (weights[place] ?? 0) / sum,
      });
    }
    return ranked;
  }

  /** With what the scores are made of, as long as nothing has been learned since. */
  inFull(): readonly ScoredInFull[] {
    return this.ranked(this.count).map((scored) => {
      const prospect = prospectOf(scored.candidate, this.#circumstances, this.#unknownPrice);
      return { ...scored, waitMs: prospect.waitMs, parts: scoreParts(prospect, this.#stakes) };
    });
  }

  /** Of first content, where it is likeliest. */
  get bestChance(): number {
    return Math.max(...this.#chances);
  }

  /** Of the draw: those of the operator's best tier by score, the others 0. */
  #weights(): readonly number[] {
    return weightsOf(this.#scoresIn(this.#tier), this.#circumstances.tried);
  }

  draw(): Candidate {
    const drawn = this.#ready[drawPlace(this.#weights(), this.#circumstances.uniform)];
    if (drawn === undefined) throw new Error('nothing to draw from');
    return drawn;
  }

  /** By the operator's tier, then by score. */
  *inOrder(): Generator<Candidate> {
    for (const place of this.#placesInOrder()) {
      const candidate = this.#ready[place];
      if (candidate !== undefined) yield candidate;
    }
  }

  /** Of many only the first few are ever asked for: none is sorted before its turn. */
  *#placesInOrder(): Generator<number> {
    for (let tier = this.#tier; tier < Number.POSITIVE_INFINITY; tier = this.#tierAfter(tier)) {
      const left = this.#scoresIn(tier);
      for (let place = leastOf(left); place >= 0; place = leastOf(left)) {
        left[place] = Number.POSITIVE_INFINITY;
        yield place;
      }
    }
  }

  /** Of the best tier and among those that could be chosen, did they answer at once and always, the one asked longest ago. */
  longestUnused(): Candidate | null {
    const scores = this.#scoresIn(this.#tier);
    const limit = reach * (scores[leastOf(scores)] ?? Number.NaN);
    let longest: Candidate | null = null;
    for (const [place, candidate] of this.#ready.entries()) {
      if (this.#tiers[place] !== this.#tier || (this.#prices[place] ?? 0) >= limit) continue;
      if (longest === null || candidate.state.lastSentMs < longest.state.lastSentMs) longest = candidate;
    }
    return longest;
  }

  /** Infinite outside the tier. */
  #scoresIn(tier: number): number[] {
    const scores: number[] = [];
    for (let place = 0; place < this.#scores.length; place++) {
      const isIn = this.#tiers[place] === tier;
      scores.push(isIn ? (this.#scores[place] ?? Number.NaN) : Number.POSITIVE_INFINITY);
    }
    return scores;
  }

  /** Infinite of the last. */
  #tierAfter(tier: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const each of this.#tiers) if (each > tier && each < next) next = each;
    return next;
  }
}

/** The place of the lowest, -1 when none is finite. */
function leastOf(scores: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  let found = -1;
  for (let place = 0; place < scores.length; place++) {
    const score = scores[place] ?? Number.POSITIVE_INFINITY;
    if (score < least) [least, found] = [score, place];
  }
  return found;
}

function areAllKnown(ready: readonly Candidate[]): boolean {
  for (const { rates } of ready) if (rates.length === 0) return false;
  return true;
}

function scoresAt(chances: readonly number[], successes: readonly number[], failures: readonly number[]) {
  const scores: number[] = [];
  for (let place = 0; place < chances.length; place++)
    scores.push(scoreAt(chances[place] ?? 0, successes[place] ?? 0, failures[place] ?? 0));
  return scores;
}

/** Puts what a target may be worth in the place of what it is expected to be, where that can make a difference. */
function redraw(
  scores: number[],
  ready: readonly Candidate[],
  successes: readonly number[],
  failures: readonly number[],
  { uniform, nowMs }: Circumstances,
): void {
  let best = Number.POSITIVE_INFINITY;
  for (const each of scores) if (each < best) best = each;
  for (let place = 0; place < ready.length; place++) {
    const success = successes[place] ?? 0;
    const failing = (scores[place] ?? 0) - success;
    if (success > hopelessRatio * best || failing < triflingShare * best) continue;
    const chance = ready[place]?.state.health.drawChance(nowMs, uniform) ?? 0;
    scores[place] = scoreAt(chance, success, failures[place] ?? 0);
  }
}

function stakesFor({ all, demand, preset, attemptsAfter, nowMs }: Circumstances): Stakes {
  const meanPrice = demand.meanPrice ?? meanPriceOf(all, demand);
  return stakesOf(meanPrice > 0 ? meanPrice : freeCallWorth, preset, demand.lastHope(attemptsAfter, nowMs));
}

/** Of a mean call, over all targets whose price is known; 0 when none is. Pico-dollars. */
export function meanPriceOf(all: readonly Candidate[], demand: Demand): number {
  let sum = 0;
  let known = 0;
  for (const { rates } of all) {
    const fitting = ratesFor(rates, demand.inputTokens);
    if (fitting === null) continue;
    known++;
    sum += plainPrice(fitting, demand.inputTokens, demand.outputTokens);
  }
  return known === 0 ? 0 : sum / known;
}

function plainPrice(rates: PriceRates, inputTokens: number, outputTokens: number): number {
  return rates.perCall + inputTokens * rates.input + outputTokens * rates.output;
}

/** The price of this call where it is highest. */
function dearestOf({ all, demand, facts }: Circumstances): number {
  let dearest = 0;
  for (const { rates } of all) {
    const fitting = ratesFor(rates, facts.inputTokensEstimate);
    if (fitting === null) continue;
    dearest = Math.max(
      dearest,
      plainPrice(fitting, facts.inputTokensEstimate, outputTokensOf(facts, demand)),
    );
  }
  return dearest;
}

function outputTokensOf({ maxOutputTokens }: Facts, demand: Demand): number {
  return Math.min(maxOutputTokens ?? demand.outputTokens, demand.outputTokens);
}

function prospectOf(
  candidate: Candidate,
  { demand, facts, session, cacheOf, nowMs }: Circumstances,
  unknownPrice: number,
): Prospect {
  const { rates, state } = candidate;
  const outputTokens = outputTokensOf(facts, demand);
  const sizes = { inputTokens: facts.inputTokensEstimate, outputTokens };
  const fitting = ratesFor(rates, facts.inputTokensEstimate);
  return {
    price: fitting === null ? unknownPrice : sessionPrice(fitting, sizes, session, cacheOf(candidate), nowMs),
    // A stream that is waited for is news of the next one.
    waitMs: Math.max(
      state.latency.expectedMs(outputTokens, facts.stream, nowMs),
      state.silence.noticedMs(nowMs, state.latency.quantiles(nowMs)),
    ),
    chance: state.health.chance(nowMs),
    failureMs: state.health.failureMs,
    breakShare: state.health.breakShare(nowMs),
    slowStart: state.circuit.slowStart(nowMs),
  };
}
