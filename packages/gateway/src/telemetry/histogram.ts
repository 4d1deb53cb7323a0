/** Counts per bucket, with the sum: what a Prometheus histogram is made of. */
export interface Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Not cumulative; one more than there are bounds, for what exceeds them all. */
  readonly counts: number[];
  sum: number;
}

export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
}

export function recordValue(histogram: Histogram, value: number): void {
  let bucket = 0;
  while (bucket < histogram.bounds.length && value > (histogram.bounds[bucket] ?? 0)) bucket++;
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.sum += value;
}
