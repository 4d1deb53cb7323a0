import type { Saved } from './saved.ts';

/** Six bins an octave from 50 ms: the last one holds all above 72 s, and a bin is 12 % wide. */
const binsPerOctave = 6;
const bins = 64;
const lowestMs = 50;
const halfLifeMs = 300_000;
/** Below this weight it has no opinion. */
const weightMin = 5;
/** Weights grow instead of shrinking with time, and are scaled back before they lose precision. */
const weightMax = 1e9;
/** So long a quantile is good enough as it was read last. */
const staleAfterMs = 1000;

/** Quantiles in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Durations of the last minutes in bins of equal ratio, older ones counting less; times on a steady clock. */
export class LogHistogram {
  readonly #weights = new Float64Array(bins);
  #total = 0;
  #landmarkMs = 0;
  #quantiles: Quantiles | null = null;
  #readMs = Number.NEGATIVE_INFINITY;

  note(durationMs: number, nowMs: number): void {
    let weight = 2 ** ((nowMs - this.#landmarkMs) / halfLifeMs);
    if (weight > weightMax) {
      for (let bin = 0; bin < bins; bin++) this.#weights[bin] = (this.#weights[bin] ?? 0) / weight;
      this.#total /= weight;
      this.#landmarkMs = nowMs;
      weight = 1;
    }
    const bin = binOf(durationMs);
    this.#weights[bin] = (this.#weights[bin] ?? 0) + weight;
    this.#total += weight;
  }

  /** Null while too little is known. */
  quantiles(nowMs: number): Quantiles | null {
    if (nowMs - this.#readMs < staleAfterMs) return this.#quantiles;
    this.#readMs = nowMs;
    const known = this.#total >= weightMin * 2 ** ((nowMs - this.#landmarkMs) / halfLifeMs);
    this.#quantiles = known
      ? { p50: this.#quantile(0.5), p95: this.#quantile(0.95), p99: this.#quantile(0.99) }
      : null;
    return this.#quantiles;
  }

  /** Weights by the number of their bin, beside the landmark they are counted from. */
  save(shiftMs: number): Saved<string> {
    const saved: Record<string, number> = { landmarkMs: this.#landmarkMs + shiftMs, total: this.#total };
    for (const [bin, weight] of this.#weights.entries()) if (weight > 0) saved[bin] = weight;
    return saved;
  }

  restore(saved: Saved<string>, shiftMs: number): void {
    const { landmarkMs, total } = saved;
    if (landmarkMs === undefined || total === undefined) return;
    this.#landmarkMs = landmarkMs + shiftMs;
    this.#total = total;
    for (let bin = 0; bin < bins; bin++) this.#weights[bin] = saved[bin] ?? 0;
  }

  #quantile(share: number): number {
    let left = share * this.#total;
    for (let bin = 0; bin < bins; bin++) {
      const weight = this.#weights[bin] ?? 0;
      if (weight >= left) return edgeMs(bin + left / weight);
      left -= weight;
    }
    return edgeMs(bins);
  }
}

function binOf(durationMs: number): number {
  const bin = Math.floor(binsPerOctave * Math.log2(Math.max(durationMs, lowestMs) / lowestMs));
  return Math.min(bins - 1, bin);
}

/** Where a bin begins; of a fraction, a place within one. */
function edgeMs(bin: number): number {
  return lowestMs * 2 ** (bin / binsPerOctave);
}
