/** The value below which the given share of the values lies. Throws when there are none: a figure of nothing is a bug. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error('There are no values to take a quantile of.');
  return value;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function minimum(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Each value less the other of the same place. */
export function differences(values: readonly number[], others: readonly number[]): number[] {
  return values.map((value, index) => value - (others[index] ?? value));
}

/** Each value as a multiple of the other of the same place. */
export function quotients(values: readonly number[], others: readonly number[]): number[] {
  return values.map((value, index) => value / (others[index] ?? value));
}
