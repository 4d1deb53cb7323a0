import type { Hold, HoldRefusal, Taken } from '../ports/holds.ts';
import type { Lease } from './lease.ts';
import type { Amounts } from './limit.ts';

/** The part of the engine that a hold needs. */
export interface HoldKeeper {
  /** Takes all or nothing, at once or later. Returns leaves before that; null where it is decided. */
  extend(
    leases: readonly Lease[],
    amounts: Amounts,
    done: (refusal: HoldRefusal | null) => void,
  ): (() => void) | null;
  settle(leases: readonly Lease[], held: Amounts, taken: Amounts): void;
}

/** The part of leases that a running call holds. */
export class RunningHold implements Hold {
  readonly leased: number;
  readonly #keeper: HoldKeeper;
  readonly #leases: readonly Lease[];
  #held: Amounts;
  /** Extensions that wait. */
  readonly #leaves = new Set<() => void>();
  #isSettled = false;

  constructor(keeper: HoldKeeper, leases: readonly Lease[], leased: number, held: Amounts) {
    this.#keeper = keeper;
    this.#leases = leases;
    this.leased = leased;
    this.#held = held;
  }

  extend(more: Taken, done: (refusal: HoldRefusal | null) => void): void {
    if (this.#isSettled) return;
    const amounts = amountsOf(more, 0n);
    let leave: (() => void) | null = null;
    leave = this.#keeper.extend(this.#leases, amounts, (refusal) => {
      if (leave !== null) this.#leaves.delete(leave);
      if (refusal === null) this.#held = sumOf(this.#held, amounts);
      done(refusal);
    });
    if (leave !== null) this.#leaves.add(leave);
  }

  settle(taken: Taken): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const leave of this.#leaves) leave();
    this.#keeper.settle(this.#leases, this.#held, amountsOf(taken, 0n));
  }
}

/** `calls`: one where it is a call that begins. */
export function amountsOf({ chargeNanoUsd, tokens, images }: Taken, calls: bigint): Amounts {
  return { charge: chargeNanoUsd, calls, places: calls, tokens: BigInt(tokens), images: BigInt(images) };
}

function sumOf(one: Amounts, other: Amounts): Amounts {
  return {
    charge: one.charge + other.charge,
    calls: one.calls + other.calls,
    places: one.places + other.places,
    tokens: one.tokens + other.tokens,
    images: one.images + other.images,
  };
}
