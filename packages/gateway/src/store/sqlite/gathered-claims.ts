import type { CallClaim, CallClaims, ClaimedCall, ClaimResult } from '../../ports/call-claims.ts';
import type { ClaimChange } from './call-claims.ts';

interface Asked {
  readonly change: ClaimChange;
  readonly resolve: (result: ClaimResult | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes the changes durable that are there when its turn comes; the result of each. */
type Write = (take: () => [readonly ClaimChange[]]) => Promise<readonly (ClaimResult | null)[]>;

/** One flush of the disk makes so many durable. */
const batchMax = 500;

/** Claims that come while others are written go together into the next transaction. */
export class GatheredClaims implements CallClaims {
  readonly #writeBatch: Write;
  readonly #gathered: Asked[] = [];

  constructor(writeBatch: Write) {
    this.#writeBatch = writeBatch;
  }

  async claim(claim: CallClaim, instead: string | null): Promise<ClaimResult> {
    const result = await this.#change({ kind: 'claim', claim, instead });
    if (result === null) throw new Error('the store made no claim of a claim');
    return result;
  }

  async conclude(call: ClaimedCall): Promise<void> {
    await this.#change({ kind: 'end', call });
  }

  #change(change: ClaimChange): Promise<ClaimResult | null> {
    return new Promise((resolve, reject) => {
      // Whoever is the first asks for all who come until it is its turn.
      if (this.#gathered.push({ change, resolve, reject }) === 1) this.#write();
    });
  }

  #write(): void {
    const batch: Asked[] = [];
    const take = (): [readonly ClaimChange[]] => {
      batch.push(...this.#gathered.splice(0, batchMax));
      if (this.#gathered.length > 0) this.#write();
      return [batch.map(({ change }) => change)];
    };
    const fail = (error: unknown): void => {
      // A lane that takes no more jobs has not asked for any: then all who wait hear of it.
      const failed = batch.length > 0 ? batch : this.#gathered.splice(0);
      for (const { reject } of failed) reject(error);
    };
    this.#writeBatch(take).then((results) => {
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] ?? null);
    }, fail);
  }
}
