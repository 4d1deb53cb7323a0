/** Uniform in [0, 1), as `Random.next` of ports/random.ts. */
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
