/** Work on a large body: each call does a slice of it and says whether there is more. */
type Step = () => boolean;

interface Sliced {
  readonly step: Step;
  readonly done: () => void;
}

/**
 * The row in which large bodies are worked on, a slice of one of them in a turn of the event loop, so that many of them hold it no longer
 * than one. What follows on a body begins in the turn of its last slice.
 */
export class Slices {
  readonly #waiting: Sliced[] = [];

  /** `done` is not called within this call. */
  work(step: Step, done: () => void): void {
    this.#waiting.push({ step, done });
    if (this.#waiting.length === 1) setImmediate(this.#take);
  }

  readonly #take = (): void => {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const hasMore = first.step();
    this.#waiting.shift();
    if (hasMore) this.#waiting.push(first);
    if (this.#waiting.length > 0) setImmediate(this.#take);
    if (!hasMore) first.done();
  };
}
