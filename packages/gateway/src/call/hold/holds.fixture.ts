import type { OwnerLimits, RateLimit } from '../../catalogue/limits.ts';
import { type NanoUsd, nanoUsd, zeroNanoUsd } from '../../money/money.ts';
import type { Demand, Hold, HoldRefusal, HoldResult, Holds, Standing, Taken } from '../../ports/holds.ts';

const moneyKind = 'total';

/** A limit, and what is taken of it for now and for good. */
interface Kept {
  readonly limit: Omit<Standing, 'remaining' | 'resetsAtMs'>;
  /** None where it counts calls of another model. */
  readonly partOf: (taken: Taken, calls: number) => bigint;
  taken: bigint;
}

/**
 * Limits without windows in the memory of a test: what is spent stays spent. It answers at once, or, where it is told to wait, when the
 * test lets it.
 */
export class HeldInMemory implements Holds {
  /** Answers wait here while it is `isAway`. */
  readonly waiting: (() => void)[] = [];
  /** The store cannot be reached, or takes its time. */
  isAway = false;
  isDown = false;
  /** All that was asked for, and settled, in order. */
  readonly demands: Demand[] = [];
  readonly extended: Taken[] = [];
  readonly settled: Taken[] = [];
  readonly #kept = new Map<OwnerLimits, readonly Kept[]>();

  take(
    owners: readonly OwnerLimits[],
    demand: Demand,
    done: (result: HoldResult) => void,
  ): (() => void) | null {
    this.demands.push(demand);
    if (!this.isAway) {
      done(this.#taken(owners, demand));
      return null;
    }
    let isLeft = false;
    this.waiting.push(() => {
      if (!isLeft) done(this.#taken(owners, demand));
    });
    return () => {
      isLeft = true;
    };
  }

  known(owners: readonly OwnerLimits[], model: string): readonly Standing[] {
    return this.#keptOf(owners)
      .filter(({ limit }) => limit.model === null || limit.model === model)
      .map(standingOf);
  }

  standings(owners: readonly OwnerLimits[]): Promise<readonly Standing[]> {
    return Promise.resolve(this.#keptOf(owners).map(standingOf));
  }

  /** Nothing is leased here. */
  idle(): bigint {
    return 0n;
  }

  /** The part of the first limit of an owner that is taken. */
  takenOf(owner: OwnerLimits): bigint {
    return this.#keptOf([owner])[0]?.taken ?? 0n;
  }

  #taken(owners: readonly OwnerLimits[], demand: Demand): HoldResult {
    const kept = this.#keptOf(owners).filter(
      ({ limit }) => limit.model === null || limit.model === demand.model,
    );
    const refusal = this.#takeFrom(kept, demand, 1);
    return refusal === null ? { ok: true, value: this.#holdOf(kept, demand) } : { ok: false, error: refusal };
  }

  #holdOf(kept: readonly Kept[], demand: Demand): Hold {
    let held: Taken = demand;
    const add = (more: Taken) => {
      held = sum(held, more);
    };
    return {
      leased: 4,
      extend: (more, done) => {
        if (this.isAway) this.waiting.push(() => this.#extend(kept, more, done, add));
        else this.#extend(kept, more, done, add);
      },
      settle: (taken) => {
        this.settled.push(taken);
        for (const each of kept) {
          each.taken += each.partOf(taken, 0) - each.partOf(held, 0);
          if (each.limit.kind === 'concurrent-calls') each.taken -= 1n;
        }
      },
    };
  }

  #extend(
    kept: readonly Kept[],
    more: Taken,
    done: (refusal: HoldRefusal | null) => void,
    add: (more: Taken) => void,
  ): void {
    const refusal = this.#takeFrom(kept, more, 0);
    if (refusal === null) {
      this.extended.push(more);
      add(more);
    }
    done(refusal);
  }

  #takeFrom(kept: readonly Kept[], taken: Taken, calls: number): HoldRefusal | null {
    if (this.isDown) return { kind: 'store-unavailable' };
    for (const each of kept) {
      const part = each.partOf(taken, calls);
      if (part === 0n || each.taken + part <= each.limit.amount) continue;
      const limit = standingOf(each);
      return { kind: 'exceeded', limit, retryAfterMs: limit.kind === moneyKind ? null : 12_000 };
    }
    for (const each of kept) each.taken += each.partOf(taken, calls);
    return null;
  }

  #keptOf(owners: readonly OwnerLimits[]): readonly Kept[] {
    return owners.flatMap((owner) => {
      const known = this.#kept.get(owner) ?? keptFor(owner);
      this.#kept.set(owner, known);
      return known;
    });
  }
}

function keptFor({ owner, id, budgets, rates }: OwnerLimits): readonly Kept[] {
  const ofMoney = budgets.map(({ span, amountNanoUsd }) => ({
    limit: { owner, id, kind: span, model: null, amount: BigInt(amountNanoUsd) },
    partOf: ({ chargeNanoUsd }: Taken) => BigInt(chargeNanoUsd),
    taken: 0n,
  }));
  const ofRates = rates.map(({ kind, amount, model }) => ({
    limit: { owner, id, kind, model, amount: BigInt(amount) },
    partOf: partOfRate[kind],
    taken: 0n,
  }));
  return [...ofMoney, ...ofRates];
}

const partOfRate: Readonly<Record<RateLimit['kind'], Kept['partOf']>> = {
  'requests-per-minute': (_, calls) => BigInt(calls),
  'requests-per-day': (_, calls) => BigInt(calls),
  'concurrent-calls': (_, calls) => BigInt(calls),
  'tokens-per-minute': ({ tokens }) => BigInt(tokens),
  'images-per-minute': ({ images }) => BigInt(images),
};

function standingOf({ limit, taken }: Kept): Standing {
  const left = limit.amount - taken;
  const resetsAtMs = limit.kind === moneyKind ? null : 61_000;
  return { ...limit, remaining: left > 0n ? left : 0n, resetsAtMs };
}

function sum(a: Taken, b: Taken): Taken {
  const chargeNanoUsd: NanoUsd = nanoUsd(a.chargeNanoUsd + b.chargeNanoUsd);
  return { chargeNanoUsd, tokens: a.tokens + b.tokens, images: a.images + b.images };
}

/** An owner whose limits a test names; a key if it says nothing else. */
export function ownerOf(limits: {
  readonly owner?: OwnerLimits['owner'];
  readonly totalNanoUsd?: bigint;
  readonly rates?: readonly RateLimit[];
  readonly isShown?: boolean;
}): OwnerLimits {
  const { owner = 'key', totalNanoUsd, rates = [], isShown = false } = limits;
  const amountNanoUsd = totalNanoUsd === undefined ? zeroNanoUsd : nanoUsd(totalNanoUsd);
  return {
    owner,
    id: owner,
    creditLimitNanoUsd: null,
    budgets: totalNanoUsd === undefined ? [] : [{ span: moneyKind, amountNanoUsd }],
    timeZone: 'UTC',
    alertAtPpm: 800_000,
    rates,
    isShown,
  };
}
