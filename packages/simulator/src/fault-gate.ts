import type { Command } from './command/command.ts';

/** Commands counted for `times`; when more are in use the oldest is forgotten. */
const countedMax = 10_000;

/** Decides which requests meet their fault: the first `times` of a command, and of those a random `share`. */
export class FaultGate {
  readonly #random: () => number;
  readonly #counts = new Map<string, number>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** `key` names the command; each one is counted on its own. */
  meets(command: Command, key: string): boolean {
    if (command.share < 1 && this.#random() >= command.share) return false;
    if (command.times === null) return true;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.delete(key);
    this.#counts.set(key, count);
    if (this.#counts.size > countedMax) this.#forgetOldest();
    return count <= command.times;
  }

  /** Starts every count anew. */
  reset(): void {
    this.#counts.clear();
  }

  #forgetOldest(): void {
    for (const key of this.#counts.keys()) {
      this.#counts.delete(key);
      return;
    }
  }
}

/** A small seeded generator of numbers in [0, 1): the mulberry32 step, good enough to shuffle faults. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
