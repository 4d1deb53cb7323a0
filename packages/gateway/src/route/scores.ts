import type { Facts } from '@headgate/protocols';
import type { RoutingPreset } from '../catalogue/catalogue.ts';
import type { Estimates } from './estimates.ts';
import type { Uniform } from './health.ts';
import { ratesFor } from './price-rates.ts';
import type { Listed, ScoredInFull, ScoreParts } from './route.ts';
import { type Cache, type Session, sessionPrice, turnsPrice } from './sticky.ts';
import type { Candidate } from './target.ts';

/** λ in mean costs of a call per second. */
const patience: Readonly<Record<RoutingPreset, number>> = { cost: 0.01, balanced: 0.05, latency: 0.25 };
/** V in mean costs of a call. */
const failureCosts = 5;
/** A target that would be so many times dearer than the best, were it certain to answer, has no share worth a draw: e⁻⁶. */
const hopelessRatio = 1.3;
/** A target whose price alone is so many times the best score would have little share whatever else it showed: e⁻². */
const reach = 1.1;
/** Failures that are expected to cost less than this share of the best score need no finding out. */
const triflingShare = 0.01;
/** A call is taken to be worth this where nothing costs anything, and time is all that counts: a tenth of a cent. */
const freeCallWorth = 1e9;
/** Targets listed of a plan: as many as its entry keeps. Where a channel has several targets, so many times more are looked at. */
const listedMax = 16;
const twinFactor = 3;
/** How much dearer a target must be to lose most of its share: 5 % for each factor of e. */
const edge = 0.05;
/** After two failures the edge grows: what failed may have a common cause, and the next one in order shares it first. */
const edgeGrowth = 4;
/** A target with a smaller share than e⁻¹⁶ is never drawn. */
const exponentMax = 16;

/** The worth of time and failure to a call. */
export interface Stakes {
  readonly perMs: number;
  readonly perFailure: number;
  /** The chance that nothing else answers either: 1 for the last attempt. */
  readonly lastHope: number;
}

/** `meanCost`: of a call of this model, pico-dollars. */
export function stakesOf(meanCost: number, preset: RoutingPreset, lastHope: number): Stakes {
  return { perMs: (patience[preset] * meanCost) / 1000, perFailure: failureCosts * meanCost, lastHope };
}

/**
 * J (routing.md, "Score"): the expected cost of a successful call on a target, all told, in pico-dollars, as a number: it chooses
 * and never charges. Made of its parts, because of a target that may be better or worse than expected only the chance is another.
 */
export function scoreAt(chance: number, success: number, failure: number): number {
  return success + ((1 - chance) / chance) * failure;
}

/** The cost of a call that is answered at once. `slowStart`: from 2 to 1 after re-admission. */
export function costOfSuccess(
  price: number,
  waitMs: number,
  breakShare: number,
  slowStart: number,
  { perMs, perFailure }: Stakes,
): number {
  // An answer that breaks off is lost, and half of it is paid for.
  return slowStart * (price + perMs * waitMs + breakShare * (perFailure + price / 2));
}

/** The cost of each failure before a success. */
export function costOfFailure(
  failureMs: number,
  slowStart: number,
  { perMs, perFailure, lastHope }: Stakes,
): number {
  return slowStart * (perMs * failureMs + perFailure * lastHope);
}

/** The call that targets are ranked for. */
export interface Circumstances {
  readonly facts: Facts;
  readonly preset: RoutingPreset;
  /** Null where no price can be lower for it. */
  readonly session: Session | null;
  /** Names the cache in which a prompt of the session would be looked for, on a target with several credentials. */
  readonly cacheOf: (candidate: Candidate) => Cache;
  /** Targets that have failed this call. */
  readonly tried: number;
  /** Attempts that are left after this one. */
  readonly attemptsAfter: number;
  readonly uniform: Uniform;
  /** True when one is drawn, and a chance that is not known well is drawn from what is known; else it is what is expected. */
  readonly draws: boolean;
  readonly nowMs: number;
}

/** The targets that may be asked, for one attempt of one call, by their places among the estimates. */
export interface Ranking {
  /** How many may be asked. */
  readonly count: number;
  /** The chance of first content, where it is likeliest. */
  readonly bestChance: number;
  /** By their shares; the best one where none was to be drawn. */
  readonly drawn: number;
  readonly listed: Listed;
}

/**
 * Ranks those of the targets that are `ready`, by their places; there is one at the least, and their rows are up to date. No
 * object is made for any of them: every call is ranked, and hardly any ranking is ever looked at.
 */
export function rank(estimates: Estimates, ready: readonly number[], circumstances: Circumstances): Ranking {
  const { scratch, tiers, chances } = estimates;
  const { draws, uniform, attemptsAfter, tried } = circumstances;
  score(estimates, ready, circumstances);
  // The last attempt takes what is likely; those before it can afford to find out.
  if (draws && attemptsAfter > 0 && ready.length > 1) redraw(estimates, ready, circumstances);
  const places = bestPlaces(estimates, ready, estimates.hasTwins ? twinFactor * listedMax : listedMax);
  const [first = 0] = places;
  const sum = weigh(estimates, ready, tiers[first] ?? 0, scratch.scores[first] ?? 0, tried);
  const drawn = draws && ready.length > 1 ? drawPlace(scratch.weights, ready, sum, uniform) : first;
  let bestChance = 0;
  for (const place of ready) {
    const chance = chances[place] ?? 0;
    if (chance > bestChance) bestChance = chance;
  }
  const numbers: number[] = [];
  for (const place of places)
    numbers.push(scratch.scores[place] ?? 0, chances[place] ?? 0, (scratch.weights[place] ?? 0) / sum);
  return { count: ready.length, bestChance, drawn, listed: { places, numbers } };
}

/** All of them with what their scores are made of, at the chances that are expected. */
export function rankInFull(
  estimates: Estimates,
  ready: readonly number[],
  circumstances: Circumstances,
): readonly ScoredInFull[] {
  score(estimates, ready, circumstances);
  const stakes = stakesFor(estimates, circumstances);
  const { scratch, candidates, tiers, chances } = estimates;
  const places = bestPlaces(estimates, ready, ready.length);
  const [first = 0] = places;
  const sum = weigh(estimates, ready, tiers[first] ?? 0, scratch.scores[first] ?? 0, circumstances.tried);
  return places.flatMap((place) => {
    const candidate = candidates[place];
    if (candidate === undefined) return [];
    const chance = chances[place] ?? 1;
    const slowStart = estimates.slowStarts[place] ?? 1;
    const price = scratch.prices[place] ?? 0;
    const waitMs = waitOf(estimates, place, circumstances.facts);
    const waiting = stakes.perMs * waitMs;
    const success = (scratch.successes[place] ?? 0) / slowStart;
    const failure = scoreAt(chance, 0, (scratch.failures[place] ?? 0) / slowStart);
    const parts: ScoreParts = {
      price,
      waiting,
      failure,
      breakage: success - price - waiting,
      slowStart: (success + failure) * (slowStart - 1),
    };
    const score = scratch.scores[place] ?? 0;
    const share = (scratch.weights[place] ?? 0) / sum;
    return [{ candidate, tier: tiers[place] ?? 0, score, chance, share, waitMs, parts }];
  });
}

/** The one asked longest ago, of the best tier and among those that could be chosen, did they answer at once and always. */
export function longestUnused(
  estimates: Estimates,
  ready: readonly number[],
  circumstances: Circumstances,
): Candidate | null {
  score(estimates, ready, circumstances);
  const { scratch, tiers, candidates } = estimates;
  const [first = 0] = bestPlaces(estimates, ready, 1);
  const limit = reach * (scratch.scores[first] ?? 0);
  let longest: Candidate | null = null;
  for (const place of ready) {
    if (tiers[place] !== tiers[first] || (scratch.prices[place] ?? 0) >= limit) continue;
    const candidate = candidates[place];
    if (candidate === undefined) continue;
    if (longest === null || candidate.state.lastSentMs < longest.state.lastSentMs) longest = candidate;
  }
  return longest;
}

function stakesFor(estimates: Estimates, { preset, attemptsAfter, nowMs }: Circumstances): Stakes {
  const { demand } = estimates;
  const meanPrice = demand.meanPrice ?? estimates.meanPrice();
  return stakesOf(meanPrice > 0 ? meanPrice : freeCallWorth, preset, demand.lastHope(attemptsAfter, nowMs));
}

/** The loop over columns that every call pays for. */
function score(estimates: Estimates, ready: readonly number[], circumstances: Circumstances): void {
  const { chances, failureMs, breakShares, slowStarts, scratch } = estimates;
  const stakes = stakesFor(estimates, circumstances);
  price(estimates, ready, circumstances);
  for (const place of ready) {
    const slowStart = slowStarts[place] ?? 1;
    const waitMs = waitOf(estimates, place, circumstances.facts);
    const broken = breakShares[place] ?? 0;
    const success = costOfSuccess(scratch.prices[place] ?? 0, waitMs, broken, slowStart, stakes);
    const failure = costOfFailure(failureMs[place] ?? 0, slowStart, stakes);
    scratch.successes[place] = success;
    scratch.failures[place] = failure;
    scratch.scores[place] = scoreAt(chances[place] ?? 1, success, failure);
  }
}

/** Until there is something to read: of a stream its beginning, of anything else its end. A stream that is waited for is news. */
function waitOf(estimates: Estimates, place: number, { stream, maxOutputTokens }: Facts): number {
  const { beginsMs, tokenMs, noticedMs, demand } = estimates;
  const writingMs = stream ? 0 : outputTokensOf(maxOutputTokens, demand.outputTokens) * (tokenMs[place] ?? 0);
  return Math.max((beginsMs[place] ?? 0) + writingMs, noticedMs[place] ?? 0);
}

function outputTokensOf(maxOutputTokens: number | null, usual: number): number {
  return maxOutputTokens === null ? usual : Math.min(maxOutputTokens, usual);
}

/** This call's price everywhere, into the scratch column. */
function price(estimates: Estimates, ready: readonly number[], circumstances: Circumstances): void {
  const { rates, cacheShares, scratch, demand } = estimates;
  const { facts, session } = circumstances;
  const inputTokens = facts.inputTokensEstimate;
  const outputTokens = outputTokensOf(facts.maxOutputTokens, demand.outputTokens);
  estimates.rateFor(inputTokens);
  const unknown = estimates.hasUnknownPrices ? 2 * dearestOf(estimates, inputTokens, outputTokens) : 0;
  for (const place of ready) {
    const input = rates.input[place] ?? 0;
    const said = (rates.perCall[place] ?? 0) + outputTokens * (rates.output[place] ?? 0);
    if (Number.isNaN(input)) scratch.prices[place] = unknown;
    else if (session === null) scratch.prices[place] = said + inputTokens * input;
    else {
      const fresh = session.writes ? Math.max(input, rates.cacheWrite[place] ?? 0) : input;
      const read = rates.cacheRead[place] ?? 0;
      scratch.prices[place] = said + turnsPrice(fresh, read, cacheShares[place] ?? 0, inputTokens, 0);
    }
  }
  if (session !== null) priceWhereWarm(estimates, session, circumstances, outputTokens);
}

/** A session has been in a few places: everywhere else it was priced as cold. */
function priceWhereWarm(
  estimates: Estimates,
  session: Session,
  { facts, cacheOf, nowMs }: Circumstances,
  outputTokens: number,
): void {
  const { candidates, scratch } = estimates;
  const sizes = { inputTokens: facts.inputTokensEstimate, outputTokens };
  for (const cache of session.places.keys()) {
    const place = estimates.placeOf(cache);
    const candidate = place === undefined ? undefined : candidates[place];
    if (place === undefined || candidate === undefined || cacheOf(candidate) !== cache) continue;
    const fitting = ratesFor(candidate.rates, sizes.inputTokens);
    if (fitting !== null) scratch.prices[place] = sessionPrice(fitting, sizes, session, cache, nowMs);
  }
}

/** The price of this call where it is highest. */
function dearestOf({ rates, candidates }: Estimates, inputTokens: number, outputTokens: number): number {
  let dearest = 0;
  for (let place = 0; place < candidates.length; place++) {
    const input = rates.input[place] ?? Number.NaN;
    const said = (rates.perCall[place] ?? 0) + outputTokens * (rates.output[place] ?? 0);
    if (!Number.isNaN(input)) dearest = Math.max(dearest, said + inputTokens * input);
  }
  return dearest;
}

/** Puts what a target may be worth in the place of what it is expected to be, where that can make a difference. */
function redraw(
  { scratch, candidates }: Estimates,
  ready: readonly number[],
  { uniform, nowMs }: Circumstances,
): void {
  const { scores, successes, failures } = scratch;
  let best = Number.POSITIVE_INFINITY;
  for (const place of ready) best = Math.min(best, scores[place] ?? best);
  for (const place of ready) {
    const success = successes[place] ?? 0;
    const failing = (scores[place] ?? 0) - success;
    if (success > hopelessRatio * best || failing < triflingShare * best) continue;
    const chance = candidates[place]?.state.health.drawChance(nowMs, uniform) ?? 1;
    scores[place] = scoreAt(chance, success, failures[place] ?? 0);
  }
}

/** The best so many, by tier, then by score: one look at each, and a short list that is kept in order. */
function bestPlaces(
  { tiers, scratch: { scores } }: Estimates,
  ready: readonly number[],
  count: number,
): readonly number[] {
  const best: number[] = [];
  for (const place of ready) {
    const tier = tiers[place] ?? 0;
    const its = scores[place] ?? 0;
    let at = best.length;
    while (at > 0) {
      const other = best[at - 1] ?? 0;
      const otherTier = tiers[other] ?? 0;
      if (otherTier < tier || (otherTier === tier && (scores[other] ?? 0) <= its)) break;
      at--;
    }
    if (at >= count) continue;
    if (best.length < count) best.push(place);
    for (let to = best.length - 1; to > at; to--) best[to] = best[to - 1] ?? 0;
    best[at] = place;
  }
  return best;
}

/** Weighs those of the best tier for the draw, the others 0; the sum of all. */
function weigh(
  { tiers, scratch: { scores, weights } }: Estimates,
  ready: readonly number[],
  tier: number,
  best: number,
  tried: number,
): number {
  let sum = 0;
  const width = widthAfter(tried);
  for (const place of ready) {
    const weight = tiers[place] === tier ? weightOf(scores[place] ?? 0, best, width) : 0;
    weights[place] = weight;
    sum += weight;
  }
  return sum;
}

/** How much dearer a target must be to lose most of its share: from the second one on that has failed this call, more. */
export function widthAfter(tried: number): number {
  return tried < 2 ? edge : edge * edgeGrowth ** (tried - 1);
}

/** The weight of a target in the draw, 1 for the best. A flat rule such as 1/price² costs several times the regret. */
export function weightOf(score: number, best: number, width: number): number {
  if (best <= 0) return score <= best ? 1 : 0;
  const exponent = (score / best - 1) / width;
  return exponent > exponentMax ? 0 : Math.exp(-exponent);
}

/** One weighted draw among `places`, whose weights sum up to so much. */
export function drawPlace(
  weights: ArrayLike<number>,
  places: readonly number[],
  sum: number,
  uniform: Uniform,
): number {
  let left = uniform() * sum;
  let drawn = -1;
  for (const place of places) {
    const weight = weights[place] ?? 0;
    if (weight <= 0) continue;
    // Rounding may leave a little after the last.
    drawn = place;
    left -= weight;
    if (left <= 0) return place;
  }
  return drawn;
}
