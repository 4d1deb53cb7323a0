/** A connection that has had its share of one turn of the event loop, or carries nothing but refusals. */
export interface RoundTaker {
  /** Called once for each `wait`, whatever has become of the connection since. */
  onRound(): void;
}

/** Connections that go on at a time, and when the next ones do. */
export interface Pace {
  readonly takersMax: number;
  readonly await: (next: () => void) => void;
}

/** Each does as little as one request, so they are soon over. */
export const everyTurn: Pace = { takersMax: 16, await: setImmediate };

/** Bytes that nobody wants have no hurry: however fast they are sent, reading them takes a small part of a millisecond. */
export const everyMillisecond: Pace = { takersMax: 4, await: (next) => setTimeout(next, 1) };

/**
 * The row in which connections wait for their next turn: who sends a thousand requests ahead, or is
 * refused whatever it sends, takes part of each turn like everybody else, and all of them together no more than a few times.
 */
export class Rounds {
  #waiting: RoundTaker[] = [];
  #isDue = false;
  readonly #pace: Pace;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  wait(taker: RoundTaker): void {
    this.#waiting.push(taker);
    if (!this.#isDue) this.#await();
  }

  #await(): void {
    this.#isDue = true;
    this.#pace.await(this.#take);
  }

  readonly #take = (): void => {
    this.#isDue = false;
    const { takersMax } = this.#pace;
    const row = this.#waiting;
    this.#waiting = row.slice(takersMax);
    const taking = Math.min(takersMax, row.length);
    for (let place = 0; place < taking; place++) row[place]?.onRound();
    if (this.#waiting.length > 0 && !this.#isDue) this.#await();
  };
}
