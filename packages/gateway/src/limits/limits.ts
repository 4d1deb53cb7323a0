import type { OwnerLimits } from '../catalogue/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Demand, HoldRefusal, HoldResult, Holds, Standing } from '../ports/holds.ts';
import type { LeaseName, LeaseStore } from '../ports/leases.ts';
import type { Observer } from '../ports/observer.ts';
import { Exchanges } from './exchanges.ts';
import { type Lease, needOf, type Waiter } from './lease.ts';
import { LeaseBook } from './lease-book.ts';
import type { Amounts } from './limit.ts';
import { amountsOf, type HoldKeeper, RunningHold } from './running-hold.ts';
import { refusalOf, standingsOf } from './standings.ts';
import { leavePlaces, waitAt } from './waiter.ts';

/** How long a call waits for others to give back what they do not need. */
const recallMs = 1_000;
/** How long a call waits for a store that does not answer. */
const patienceMs = 1_500;
/** Calls that may wait; far more than a store answers in that time. */
const waitersMax = 20_000;
const pollMs = 50;
const secondMs = 1_000;
/** Waits that are ended in one turn: each is the answer of a call, or its beginning. */
const endedAtOnce = 50;
/** A lease goes back that nobody has used for so long. */
const idleMs = 30_000;

const storeUnavailable: HoldRefusal = { kind: 'store-unavailable' };

export interface LimitsOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly observer: Pick<Observer, 'alert' | 'alertOver'>;
  /** Does something in the next turn of the event loop. */
  readonly nextTurn: (work: () => void) => void;
}

/**
 * Limits of money and rates (ADR 40). A call takes from leases in memory, from all at once or from none; only one that finds too little waits
 * for the store.
 */
export class Limits implements Holds, HoldKeeper {
  readonly #clock: Clock;
  readonly #book: LeaseBook;
  readonly #exchanges: Exchanges;
  readonly #waiters = new Set<Waiter>();
  /** Leases that others may give something back of: they are asked for again in a moment. */
  readonly #later = new Set<Lease>();
  readonly #nextTurn: (work: () => void) => void;
  /** Leases whose waiters had no more place in this turn. */
  #unserved: Lease[] | null = null;
  #isPatienceEnding = false;
  #numbers = 0;
  #polledAt = 0;
  #lookedAt = 0;
  #isClosed = false;

  constructor({ store, clock, observer, nextTurn }: LimitsOptions) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
    this.#book = new LeaseBook((lease) => {
      this.#exchanges.giveBack(lease);
      this.#exchanges.look(lease);
    });
    const onAnswer = (leases: readonly Lease[]) => this.#serve([...leases]);
    this.#exchanges = new Exchanges({ store, clock, book: this.#book, observer, onAnswer });
  }

  take(
    owners: readonly OwnerLimits[],
    demand: Demand,
    done: (result: HoldResult) => void,
  ): (() => void) | null {
    const leases = this.#book.leasesOf(owners, demand.model);
    const { leased } = this.#book.bindingOf(owners);
    const amounts = amountsOf(demand, 1n);
    if (this.#takeNow(leases, amounts, null)) {
      done({ ok: true, value: this.#hold(leases, leased, amounts) });
      return null;
    }
    return this.#wait(leases, amounts, (refusal) => {
      if (refusal !== null) done({ ok: false, error: refusal });
      else done({ ok: true, value: this.#hold(leases, leased, amounts) });
    });
  }

  extend(
    leases: readonly Lease[],
    amounts: Amounts,
    done: (refusal: HoldRefusal | null) => void,
  ): (() => void) | null {
    if (this.#takeNow(leases, amounts, null)) {
      done(null);
      return null;
    }
    return this.#wait(leases, amounts, done);
  }

  settle(leases: readonly Lease[], held: Amounts, taken: Amounts): void {
    const nowMs = this.#clock.now();
    let isWaitedFor = false;
    for (const lease of leases) {
      lease.holders--;
      lease.settle(needOf(lease, held), needOf(lease, taken), nowMs);
      if (lease.hasSurplus) this.#exchanges.giveBack(lease);
      isWaitedFor ||= lease.waiters.length > 0;
    }
    if (isWaitedFor) this.#serve(leases.filter(({ waiters }) => waiters.length > 0));
  }

  known(owners: readonly OwnerLimits[], model: string): readonly Standing[] {
    const nowMs = this.#clock.now();
    return this.#book.leasesOf(owners, model).flatMap((lease) => standingsOf(lease, nowMs));
  }

  async standings(owners: readonly OwnerLimits[]): Promise<readonly Standing[]> {
    const { all } = this.#book.bindingOf(owners);
    if (all.length === 0) return [];
    for (const lease of all) this.#exchanges.look(lease);
    await this.#exchanges.looked();
    const nowMs = this.#clock.now();
    return all.flatMap((lease) => standingsOf(lease, nowMs));
  }

  idle(name: LeaseName): bigint {
    const free = this.#book.find(name)?.free ?? 0n;
    return free > 0n ? free : 0n;
  }

  /** Looks after leases and those who wait for them. Call it forty times a second. */
  tick(): void {
    if (this.#book.size === 0 || this.#isClosed) return;
    const now = this.#clock.monotonic();
    this.#endPatience(now);
    for (const lease of this.#later) {
      lease.isLater = false;
      this.#exchanges.ask(lease);
    }
    this.#later.clear();
    if (now - this.#lookedAt >= secondMs) this.#lookAfter(now);
    if (now - this.#polledAt < pollMs) return;
    this.#polledAt = now;
    this.#exchanges.poll();
  }

  /** Gives back what no running call holds. Whoever waits is told that there is no store; what is held stays leased. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiters) this.#end(waiter, storeUnavailable);
    for (const lease of this.#book.values()) {
      this.#exchanges.giveBack(lease);
      if (lease.hasUses) this.#exchanges.look(lease);
    }
    if (this.#book.size > 0) await this.#exchanges.flush();
  }

  #hold(leases: readonly Lease[], leased: number, amounts: Amounts): RunningHold {
    for (const lease of leases) lease.holders++;
    return new RunningHold(this, leases, leased, amounts);
  }

  /** Takes from all leases, or from none. */
  #takeNow(leases: readonly Lease[], amounts: Amounts, waiter: Waiter | null): boolean {
    if (this.#isClosed) return false;
    for (const lease of leases) if (lease.isShort(needOf(lease, amounts), waiter)) return false;
    const nowMs = this.#clock.now();
    for (const lease of leases) {
      lease.take(needOf(lease, amounts), nowMs);
      if (lease.free < lease.lowMark) this.#exchanges.ask(lease);
    }
    return true;
  }

  /** Waits until all leases suffice. Returns leaves before that; null where it is refused at once. */
  #wait(
    leases: readonly Lease[],
    amounts: Amounts,
    end: (refusal: HoldRefusal | null) => void,
  ): (() => void) | null {
    const now = this.#clock.monotonic();
    if (this.#isClosed || this.#waiters.size >= waitersMax) {
      end(storeUnavailable);
      return null;
    }
    for (const lease of leases) {
      const need = needOf(lease, amounts);
      if (need === 0n || !lease.isRefused(need, now)) continue;
      end(refusalOf(lease, need, this.#clock.now()));
      return null;
    }
    const waiter: Waiter = { amounts, leases, number: ++this.#numbers, since: now, places: [], end };
    this.#waiters.add(waiter);
    this.#queue(waiter);
    return () => {
      if (this.#waiters.delete(waiter)) this.#serve([...leavePlaces(waiter)]);
    };
  }

  /** Takes places at the leases that are too small. True when one is still too small then. */
  #queue(waiter: Waiter): boolean {
    let isShort = false;
    for (const lease of waiter.leases) {
      const need = needOf(lease, waiter.amounts);
      if (!lease.isShort(need, waiter)) continue;
      // It may have come before all who wait there.
      waitAt(lease, waiter);
      if (!lease.isShort(need, waiter)) continue;
      isShort = true;
      if (!lease.isAsked && !lease.isLater) this.#exchanges.ask(lease);
    }
    return isShort;
  }

  /** Admits and refuses those who wait for the leases, in the order in which they came, some in a turn. */
  #serve(leases: Lease[]): void {
    const now = this.#clock.monotonic();
    let ended = 0;
    for (let lease = leases.pop(); lease !== undefined; lease = leases.pop()) {
      for (let first = lease.waiters[0]; first !== undefined; first = lease.waiters[0]) {
        const isRefused = lease.isRefused(needOf(lease, first.amounts), now);
        if (!isRefused && this.#queue(first)) break;
        if (ended++ === endedAtOnce) return this.#serveLater([...leases, lease]);
        leases.push(...(isRefused ? this.#end(first, this.#refuse(lease, first)) : this.#admit(first)));
      }
      // Whoever waits for it next asks at once.
      if (lease.waiters.length === 0) lease.isLater = false;
      else if (lease.isLater) this.#later.add(lease);
    }
  }

  #serveLater(leases: readonly Lease[]): void {
    if (this.#unserved !== null) {
      this.#unserved.push(...leases);
      return;
    }
    this.#unserved = [...leases];
    this.#nextTurn(() => {
      const unserved = new Set(this.#unserved);
      this.#unserved = null;
      this.#serve([...unserved]);
    });
  }

  #admit(waiter: Waiter): readonly Lease[] {
    this.#takeNow(waiter.leases, waiter.amounts, waiter);
    return this.#end(waiter, null);
  }

  #end(waiter: Waiter, refusal: HoldRefusal | null): readonly Lease[] {
    this.#waiters.delete(waiter);
    const left = leavePlaces(waiter);
    waiter.end(refusal);
    return left;
  }

  #refuse(lease: Lease, { amounts }: Waiter): HoldRefusal {
    const refusal = refusalOf(lease, needOf(lease, amounts), this.#clock.now());
    // Who comes back when it was told to must not find what is remembered.
    if (refusal.kind === 'exceeded' && refusal.retryAfterMs !== null)
      lease.forgetRefusal(this.#clock.monotonic() + refusal.retryAfterMs);
    return refusal;
  }

  #endPatience(now: number): void {
    const isFailing = this.#exchanges.isFailing;
    let ended = 0;
    for (const waiter of this.#waiters) {
      const waited = now - waiter.since;
      if (waited < recallMs) break;
      const lease = waiter.places.find((place) => place.isShort(needOf(place, waiter.amounts), waiter));
      const refusal =
        lease?.isLater && !isFailing
          ? this.#refuse(lease, waiter)
          : waited >= patienceMs
            ? storeUnavailable
            : null;
      if (refusal === null) continue;
      if (ended++ === endedAtOnce) return this.#endPatienceLater();
      this.#serve([...this.#end(waiter, refusal)]);
    }
  }

  #endPatienceLater(): void {
    if (this.#isPatienceEnding) return;
    this.#isPatienceEnding = true;
    this.#nextTurn(() => {
      this.#isPatienceEnding = false;
      this.#endPatience(this.#clock.monotonic());
    });
  }

  /** Once a second: uses are reported, standings are looked at after calls, and what nobody has used for long goes back. */
  #lookAfter(now: number): void {
    this.#lookedAt = now;
    const forgotten: Lease[] = [];
    for (const lease of this.#book.values()) {
      lease.measurePace();
      const isIdle = lease.isIdle(now, idleMs);
      if (lease.hasUses || lease.looksLeft > 0) this.#exchanges.look(lease);
      if (lease.looksLeft > 0) lease.looksLeft--;
      if (!isIdle) continue;
      if (lease.free > 0n || lease.isDebtFed) this.#exchanges.giveBack(lease);
      else if (lease.free < 0n) this.#exchanges.look(lease);
      else if (lease.isEmpty && !this.#exchanges.isPending(lease)) forgotten.push(lease);
    }
    this.#book.forget(forgotten);
  }
}
