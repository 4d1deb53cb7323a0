import type { Facts } from '@headgate/protocols';
import type { RoutingPreset } from '../catalogue.ts';
import { type Session, sessionPrice } from './affinity.ts';
import type { Uniform } from './beta-draw.ts';
import type { Candidate } from './candidates.ts';
import type { Demand } from './demand.ts';
import type { Scored } from './explain.ts';
import { type PriceRates, ratesFor } from './price-rates.ts';
import { type Prospect, type Stakes, score, stakesOf } from './score.ts';
import { drawPlace, weightsOf } from './selection.ts';

interface Circumstances {
  /** Every candidate of the model, ready or not: what a call costs on average does not change with their health. */
  readonly all: readonly Candidate[];
  readonly demand: Demand;
  readonly facts: Facts;
  readonly session: Session | null;
  readonly preset: RoutingPreset;
  /** Targets that have failed this call. */
  readonly tried: number;
  /** Attempts that are left after this one. */
  readonly attemptsAfter: number;
  readonly uniform: Uniform;
  readonly nowMs: number;
}

/** A target whose price alone is so many times the best score has no share worth a draw: e⁻¹⁰. */
const hopelessRatio = 1.5;

/** The scores of the targets that may be asked, for one attempt of one call. */
export class Appraisal {
  readonly scored: readonly Scored[];
  readonly #circumstances: Circumstances;
  /** The best one there is. */
  readonly #tier: number;

  constructor(ready: readonly Candidate[], circumstances: Circumstances) {
    this.#circumstances = circumstances;
    const stakes = stakesFor(circumstances);
    const allKnown = ready.every(({ rates }) => rates.length > 0);
    const unknownPrice = allKnown ? 0 : 2 * dearestOf(circumstances);
    const prospects = ready.map((candidate) => prospectOf(candidate, circumstances, unknownPrice));
    const expected = prospects.map((prospect) => score(prospect, stakes));
    // The last attempt takes what is likely; those before it can afford to find out.
    this.scored =
      circumstances.attemptsAfter <= 0
        ? ready.map((candidate, place) => scoredOf(candidate, prospects[place], expected[place]))
        : sampled(ready, prospects, expected, stakes, circumstances);
    this.#tier = Math.min(...this.scored.map(({ tier }) => tier));
  }

  /** Of the draw: those of the operator's best tier by score, the others 0. */
  weights(): readonly number[] {
    return weightsOf(
      this.scored.map(({ tier, score: own }) => (tier === this.#tier ? own : Number.POSITIVE_INFINITY)),
      this.#circumstances.tried,
    );
  }

  draw(): Candidate {
    const drawn = this.scored[drawPlace(this.weights(), this.#circumstances.uniform)];
    if (drawn === undefined) throw new Error('nothing to draw from');
    return drawn.candidate;
  }

  /** By the operator's tier, then by score. */
  inOrder(): readonly Candidate[] {
    return this.scored
      .toSorted((a, b) => a.tier - b.tier || a.score - b.score)
      .map(({ candidate }) => candidate);
  }

  /** Of the best tier and among those not too dear, the one that was asked longest ago. */
  longestUnused(ratio: number): Candidate | null {
    const scored = this.scored.filter(({ tier }) => tier === this.#tier);
    const best = Math.min(...scored.map((each) => each.score));
    let longest: Candidate | null = null;
    for (const each of scored) {
      if (each.score >= ratio * best) continue;
      if (longest === null || each.candidate.state.lastSentMs < longest.state.lastSentMs)
        longest = each.candidate;
    }
    return longest;
  }
}

function scoredOf(
  candidate: Candidate,
  prospect: Prospect | undefined,
  expected: number | undefined,
): Scored {
  const tier = candidate.target.channel.priority;
  return { candidate, tier, score: expected ?? Number.POSITIVE_INFINITY, chance: prospect?.chance ?? 0 };
}

function sampled(
  ready: readonly Candidate[],
  prospects: readonly Prospect[],
  expected: readonly number[],
  stakes: Stakes,
  { uniform, nowMs }: Circumstances,
): readonly Scored[] {
  const best = Math.min(...expected);
  return ready.map((candidate, place) => {
    const prospect = prospects[place];
    const mean = scoredOf(candidate, prospect, expected[place]);
    if (prospect === undefined || prospect.price > hopelessRatio * best) return mean;
    const chance = candidate.state.health.drawChance(nowMs, uniform);
    return { ...mean, score: score({ ...prospect, chance }, stakes) };
  });
}

function stakesFor({ all, demand, preset, attemptsAfter, nowMs }: Circumstances): Stakes {
  const meanPrice = demand.meanPrice ?? meanPriceOf(all, demand);
  // Where nothing costs anything, time is all that counts.
  return stakesOf(meanPrice > 0 ? meanPrice : 1, preset, demand.lastHope(attemptsAfter, nowMs));
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
  { rates, state }: Candidate,
  { demand, facts, session, nowMs }: Circumstances,
  unknownPrice: number,
): Prospect {
  const outputTokens = outputTokensOf(facts, demand);
  const sizes = { inputTokens: facts.inputTokensEstimate, outputTokens };
  const fitting = ratesFor(rates, facts.inputTokensEstimate);
  return {
    price: fitting === null ? unknownPrice : sessionPrice(fitting, sizes, session, state, nowMs),
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
