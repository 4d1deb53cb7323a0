/**
 * How often values of about the same size came, by steps of an eighth of an octave: a quantile of it is right to five per cent,
 * and two spreads add up to one.
 */
export type Spread = Map<number, number>;

const stepsPerOctave = 8;
/** Values beyond 2^24 are counted as that: four and a half hours in milliseconds. */
const stepMax = 24 * stepsPerOctave;

export function addValue(spread: Spread, value: number): void {
  const step = value > 1 ? Math.min(stepMax, Math.round(Math.log2(value) * stepsPerOctave)) : 0;
  spread.set(step, (spread.get(step) ?? 0) + 1);
}

export function addSpread(into: Spread, from: Spread): void {
  for (const [step, count] of from) into.set(step, (into.get(step) ?? 0) + count);
}

export function spreadSize(spread: Spread): number {
  let size = 0;
  for (const count of spread.values()) size += count;
  return size;
}

/** The value that this share of all stays below; null of nothing. */
export function quantile(spread: Spread, share: number): number | null {
  const size = spreadSize(spread);
  if (size === 0) return null;
  let left = share * size;
  let value = 0;
  for (const [step, count] of [...spread].sort(([a], [b]) => a - b)) {
    value = 2 ** (step / stepsPerOctave);
    left -= count;
    if (left <= 0) break;
  }
  return value;
}

/** As it is stored: `step:count` with blanks between. */
export function writeSpread(spread: Spread): string {
  return [...spread].map(([step, count]) => `${step}:${count}`).join(' ');
}

export function readSpread(text: string): Spread {
  const spread: Spread = new Map();
  if (text === '') return spread;
  for (const pair of text.split(' ')) {
    const at = pair.indexOf(':');
    spread.set(Number(pair.slice(0, at)), Number(pair.slice(at + 1)));
  }
  return spread;
}
