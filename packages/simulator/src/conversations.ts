/** An item of an answer that a later request may name instead of sending it again. */
export interface KeptItem {
  readonly id: string;
  /** Tokens it adds to a prompt. */
  readonly tokens: number;
  /** The call it makes; null when it makes none. */
  readonly callId: string | null;
}

/** One answer that a later request may continue. */
export interface KeptTurn {
  readonly id: string;
  /** Tokens of the whole conversation up to and without this answer, instructions excluded. */
  readonly tokensBefore: number;
  readonly items: readonly KeptItem[];
}

const turnsMax = 10_000;

/** The answers a simulator remembers, the latest ten thousand: for protocols whose requests name earlier ones. */
export class Conversations {
  readonly #turns = new Map<string, KeptTurn>();
  readonly #items = new Map<string, KeptItem>();

  keep(turn: KeptTurn): void {
    this.#turns.set(turn.id, turn);
    for (const item of turn.items) this.#items.set(item.id, item);
    if (this.#turns.size > turnsMax) this.#forgetOldest();
  }

  turn(id: string): KeptTurn | undefined {
    return this.#turns.get(id);
  }

  item(id: string): KeptItem | undefined {
    return this.#items.get(id);
  }

  #forgetOldest(): void {
    for (const turn of this.#turns.values()) {
      for (const { id } of turn.items) this.#items.delete(id);
      this.#turns.delete(turn.id);
      return;
    }
  }
}
