/** Wakes those who wait for something to happen. */
export class NewsBell {
  #waiting: (() => void)[] = [];

  ring(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves at the next ring, or after so long. */
  heard(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== wake);
        resolve();
      }, withinMs);
      const wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(wake);
    });
  }
}
