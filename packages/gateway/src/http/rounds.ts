/** A connection that has had its share of one turn of the event loop, or carries nothing but refusals. */
export interface RoundTaker {
  /** Called once for each `wait`, whatever has become of the connection since. */
  onRound(): void;
}

/** Connections that go on in one turn of the event loop. Each does as little as one request, so they are soon over. */
const takersMax = 16;

/**
 * The row in which connections wait for another turn of the event loop: who sends a thousand requests ahead, or is
 * refused whatever it sends, takes part of each turn like everybody else, and all of them together no more than sixteen.
 */
export class Rounds {
  #waiting: RoundTaker[] = [];
  #isDue = false;

  wait(taker: RoundTaker): void {
    this.#waiting.push(taker);
    if (!this.#isDue) this.#await();
  }

  #await(): void {
    this.#isDue = true;
    setImmediate(this.#take);
  }

  readonly #take = (): void => {
    this.#isDue = false;
    const row = this.#waiting;
    this.#waiting = row.slice(takersMax);
    const taking = Math.min(takersMax, row.length);
    for (let place = 0; place < taking; place++) row[place]?.onRound();
    if (this.#waiting.length > 0 && !this.#isDue) this.#await();
  };
}
