interface Event {
  readonly atMs: number;
  /** Events of the same moment happen in the order in which they were planned. */
  readonly order: number;
  readonly happen: () => void;
}

/** The events to come, soonest first: a binary heap. */
export class EventQueue {
  readonly #heap: Event[] = [];
  #planned = 0;
  nowMs: number;

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  after(delayMs: number, happen: () => void): void {
    this.#planned++;
    this.#heap.push({ atMs: this.nowMs + delayMs, order: this.#planned, happen });
    this.#rise(this.#heap.length - 1);
  }

  /** Lets everything happen, and what comes of it, until nothing is left. */
  run(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.nowMs = next.atMs;
      next.happen();
    }
  }

  #take(): Event | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #rise(from: number): void {
    let place = from;
    while (place > 0 && this.#isSooner(place, (place - 1) >> 1)) {
      this.#swap(place, (place - 1) >> 1);
      place = (place - 1) >> 1;
    }
  }

  #sink(from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const child = this.#isSooner(left + 1, left) ? left + 1 : left;
      if (!this.#isSooner(child, place)) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #isSooner(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs;
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
