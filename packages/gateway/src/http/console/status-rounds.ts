/** The lane's part of the loop: so many answers for each millisecond, and so many one after the other at the most. */
const answersPerMs = 7;
const answersMax = 14;
const roundMs = 1;
/** Answers that wait for a later round. */
const waitingMax = 500;

/**
 * Bounds what answers take of the event loop, in which calls of models have their turns: an answer takes from what this round has left, or
 * waits. Whoever comes when enough wait is turned away, which costs least.
 */
export class StatusRounds {
  readonly #waiting: { readonly cost: number; readonly answer: () => void }[] = [];
  #left = answersMax;
  #roundAt = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Runs `answer` now or in a round to come, and counts it as so many; false where too many wait already. */
  take(cost: number, answer: () => void): boolean {
    if (this.#timer === null) this.#awaitRound();
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= cost;
      answer();
      return true;
    }
    if (this.#waiting.length >= waitingMax) return false;
    this.#waiting.push({ cost, answer });
    return true;
  }

  #awaitRound(): void {
    this.#roundAt = performance.now();
    this.#timer = setTimeout(this.#nextRound, roundMs);
  }

  readonly #nextRound = (): void => {
    const earned = (performance.now() - this.#roundAt) * answersPerMs;
    this.#timer = null;
    // The next round has less where one cost more than was left of this.
    this.#left = Math.min(answersMax, this.#left + earned);
    let taking = 0;
    while (this.#left > 0 && taking < this.#waiting.length) {
      this.#left -= this.#waiting[taking]?.cost ?? 0;
      taking += 1;
    }
    const round = this.#waiting.splice(0, taking);
    if (this.#waiting.length > 0 || this.#left < answersMax) this.#awaitRound();
    for (const { answer } of round) answer();
  };
}
