import type { Uniform } from '../target/beta-draw.ts';

/** How much dearer a target must be to lose most of its share: 5 % for each factor of e. */
const edge = 0.05;
/** Of a call that has failed twice: what failed may have a common cause, and the next one in order shares it first. */
const edgeGrowth = 4;

/**
 * The weight of each target in the draw, 1 for the best; of an infinite score 0. A flat rule such as 1/price² costs several
 * times the regret. `tried`: targets that have failed this call; from the second on the draw gets flatter.
 */
export function weightsOf(scores: readonly number[], tried = 0): readonly number[] {
  const width = edge * edgeGrowth ** Math.max(0, tried - 1);
  let best = Number.POSITIVE_INFINITY;
  for (const each of scores) if (each < best) best = each;
  const weights: number[] = [];
  for (const each of scores)
    weights.push(best > 0 ? Math.exp(-(each / best - 1) / width) : Number(each <= best));
  return weights;
}

/** One weighted draw: the place of the one drawn, -1 when none weighs anything. */
export function drawPlace(weights: readonly number[], uniform: Uniform): number {
  let sum = 0;
  for (const weight of weights) sum += weight;
  let left = uniform() * sum;
  let drawn = -1;
  for (let place = 0; place < weights.length; place++) {
    const weight = weights[place] ?? 0;
    if (weight <= 0) continue;
    // Rounding may leave a little after the last.
    drawn = place;
    left -= weight;
    if (left <= 0) return place;
  }
  return drawn;
}
