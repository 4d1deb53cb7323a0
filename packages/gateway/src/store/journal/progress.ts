/** The cells of a run's progress: how far its journal is durable, how far it is fed, whether the feeder has given up. */
const cells = 3;
const [durableAt, fedAt, stoppedAt] = [0, 1, 2] as const;

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

  get hasStopped(): boolean {
    return Atomics.load(this.#cells, stoppedAt) !== 0n;
  }

  advance(durable: number): void {
    Atomics.store(this.#cells, durableAt, BigInt(durable));
  }

  feed(fed: number): void {
    Atomics.store(this.#cells, fedAt, BigInt(fed));
  }

  /** For good: the store takes no more, or the journal cannot be read. */
  stop(): void {
    Atomics.store(this.#cells, stoppedAt, 1n);
  }
}
