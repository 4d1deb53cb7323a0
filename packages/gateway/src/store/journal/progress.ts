/** The cells of a run's progress: how far its journal is durable, how far it is fed, how the feeder stands. */
const cells = 3;
const [durableAt, fedAt, standingAt] = [0, 1, 2] as const;

/** How the feeder stands: it feeds, it has given up, or it waits for files that are not where they were. */
const [feeding, stopped, held] = [0n, 1n, 2n] as const;

/**
 * The place that a run's journal has reached, in memory that the thread that writes it and the one that feeds it share: this takes the place of a
 * message for every write.
 */
export class Progress {
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new BigInt64Array(memory);
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(cells * BigInt64Array.BYTES_PER_ELEMENT);
  }

  get durable(): number {
    return Number(Atomics.load(this.#cells, durableAt));
  }

  get unfed(): number {
    return this.durable - Number(Atomics.load(this.#cells, fedAt));
  }

  /** True while the store is not fed, for good or for a while. */
  get hasStopped(): boolean {
    return Atomics.load(this.#cells, standingAt) !== feeding;
  }

  /** True while a part of the journal cannot be found that the store does not have yet. */
  get isHeld(): boolean {
    return Atomics.load(this.#cells, standingAt) === held;
  }

  advance(durable: number): void {
    Atomics.store(this.#cells, durableAt, BigInt(durable));
  }

  feed(fed: number): void {
    Atomics.store(this.#cells, fedAt, BigInt(fed));
  }

  hold(isHeld: boolean): void {
    const [from, to] = isHeld ? [feeding, held] : [held, feeding];
    Atomics.compareExchange(this.#cells, standingAt, from, to);
  }

  /** For good: the store takes no more, or the journal cannot be read. */
  stop(): void {
    Atomics.store(this.#cells, standingAt, stopped);
  }
}
