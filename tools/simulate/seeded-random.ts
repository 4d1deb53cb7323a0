/** Chance that can be repeated: the same seed, the same numbers (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  readonly uniform = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

  between(low: number, high: number): number {
    return low + (high - low) * this.uniform();
  }

  /** Evenly over ratios. */
  betweenRatios(low: number, high: number): number {
    return low * (high / low) ** this.uniform();
  }

  below(count: number): number {
    return Math.floor(this.uniform() * count);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  logNormal(median: number, sigma: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
    return median * Math.exp(sigma * normal);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}
