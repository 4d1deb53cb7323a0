import type { Caller } from '../catalogue/catalogue.ts';

type Holder = Pick<Caller, 'accountId' | 'keyId'>;

/**
 * The bytes of all calls that are held at once: request bodies, what is fetched for them, answers that are gathered or not yet
 * taken. An account may hold twice what is left, a key as much as is left: one that is alone gets two thirds and a half of
 * all, several that want everything share evenly, and something is always left for the next one (ADR 31).
 */
export class MemoryBudget {
  #taken = 0;
  readonly #bytesMax: number;
  readonly #ofAccounts = new Map<string, number>();
  readonly #ofKeys = new Map<string, number>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held by all calls. */
  get taken(): number {
    return this.#taken;
  }

  /** False, and nothing is taken, when a call of this caller's may not hold so many bytes more. */
  take({ accountId, keyId }: Holder, bytes: number): boolean {
    const left = this.#bytesMax - this.#taken - bytes;
    const ofAccount = (this.#ofAccounts.get(accountId) ?? 0) + bytes;
    const ofKey = (this.#ofKeys.get(keyId) ?? 0) + bytes;
    if (ofAccount > 2 * left || ofKey > left) return false;
    this.#taken += bytes;
    this.#ofAccounts.set(accountId, ofAccount);
    this.#ofKeys.set(keyId, ofKey);
    return true;
  }

  giveBack({ accountId, keyId }: Holder, bytes: number): void {
    this.#taken -= bytes;
    subtract(this.#ofAccounts, accountId, bytes);
    subtract(this.#ofKeys, keyId, bytes);
  }
}

function subtract(held: Map<string, number>, id: string, bytes: number): void {
  const rest = (held.get(id) ?? 0) - bytes;
  if (rest > 0) held.set(id, rest);
  else held.delete(id);
}
