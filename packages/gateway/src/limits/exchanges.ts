import type { Clock } from '../ports/clock.ts';
import type {
  BudgetWindow,
  LeaseAnswer,
  LeaseAsk,
  LeaseExchange,
  LeaseReturn,
  LeaseStore,
  RateUse,
} from '../ports/leases.ts';
import type { Observer } from '../ports/observer.ts';
import type { Lease } from './lease.ts';
import type { LeaseBook } from './lease-book.ts';
import { type Limit, termsOf } from './limit.ts';
import { tell } from './tell.ts';

/** Limits of one exchange; those beyond wait for the next one, so that none holds up the store's writer. */
const asksMax = 500;

export interface ExchangesOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly book: LeaseBook;
  readonly observer: Pick<Observer, 'alert' | 'alertOver'>;
  /** Hears which leases have answers. */
  readonly onAnswer: (leases: readonly Lease[]) => void;
}

/** A lease that the store was asked about, as it was then. */
interface Asked {
  readonly lease: Lease;
  readonly limit: Limit;
  readonly least: bigint;
  /** False where it was only looked. */
  readonly isRequest: boolean;
  readonly budgets: readonly BudgetWindow[];
}

interface Sent {
  readonly exchange: LeaseExchange;
  readonly asked: readonly Asked[];
  readonly lookers: readonly PromiseWithResolvers<void>[];
}

/**
 * Exchanges of this process with the store, one at a time: what comes up while one is under way goes into the next. One that has failed is
 * sent again as it was, since nobody knows whether it was done.
 */
export class Exchanges {
  readonly #options: ExchangesOptions;
  /** Leases of which more is needed; of which the standing is; and of which all that is free goes back. */
  readonly #asking = new Set<Lease>();
  readonly #looking = new Set<Lease>();
  readonly #returning = new Set<Lease>();
  /** Wants of leases that this process has forgotten. */
  #strangers: LeaseReturn[] = [];
  #lookers: PromiseWithResolvers<void>[] = [];
  #number = 0;
  #lost: Sent | null = null;
  #isUnderWay = false;
  #isDue = false;
  #ended: (() => void)[] = [];

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  /** The last one has failed. */
  get isFailing(): boolean {
    return this.#lost !== null;
  }

  ask(lease: Lease): void {
    this.#asking.add(lease);
    this.#request();
  }

  /** With the next exchange. */
  look(lease: Lease): void {
    this.#looking.add(lease);
  }

  /** Resolves when the leases that are looked at are known; rejects when the store does not say. */
  looked(): Promise<void> {
    const looker = Promise.withResolvers<void>();
    this.#lookers.push(looker);
    this.#request();
    return looker.promise;
  }

  /** True when an exchange to come is about it. */
  isPending(lease: Lease): boolean {
    return this.#asking.has(lease) || this.#looking.has(lease) || this.#returning.has(lease);
  }

  giveBack(lease: Lease): void {
    this.#returning.add(lease);
  }

  /** Sends what there is, and hears what others want. */
  poll(): void {
    if (!this.#isUnderWay) this.#request();
  }

  /** Resolves when nothing is left to say, or the store does not listen. */
  async flush(): Promise<void> {
    this.#request();
    while (this.#isUnderWay || this.#isDue) await new Promise<void>((resolve) => this.#ended.push(resolve));
  }

  #request(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    // All else that comes up in this turn goes along.
    if (!this.#isUnderWay) queueMicrotask(() => void this.#send());
  }

  async #send(): Promise<void> {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#isDue = false;
    const sent = this.#lost === null ? this.#compose() : this.#renew(this.#lost);
    try {
      const answer = await this.#options.store.exchange(sent.exchange);
      // Something may have gathered behind one that had failed.
      this.#isDue ||= this.#lost !== null;
      this.#lost = null;
      this.#receive(sent, answer);
    } catch (error) {
      this.#lost = sent;
      for (const looker of sent.lookers) looker.reject(error);
      // It is sent again by the next poll.
      this.#isDue = false;
    }
    this.#isUnderWay = false;
    for (const resolve of this.#ended.splice(0)) resolve();
    if (this.#isDue) queueMicrotask(() => void this.#send());
  }

  #compose(): Sent {
    const nowMs = Math.floor(this.#options.clock.now());
    const returns = this.#composeReturns();
    const uses: RateUse[] = [];
    const asked: Asked[] = [];
    const asks: LeaseAsk[] = [];
    const touch = (lease: Lease) => {
      const { subject, measure } = lease.limit;
      for (const use of lease.takeUses()) uses.push({ subject, measure, ...use });
    };
    const add = (lease: Lease, amounts: { readonly least: bigint; readonly wish: bigint }) => {
      const { limit } = lease;
      const terms = termsOf(limit, nowMs);
      const budgets = terms.kind === 'money' ? terms.budgets : [];
      asked.push({ lease, limit, least: amounts.least, isRequest: amounts.wish > 0n, budgets });
      asks.push({ terms, ...amounts });
      lease.isAsked = true;
      touch(lease);
    };
    for (const lease of firstOf(this.#asking, asksMax)) add(lease, lease.wants());
    for (const lease of firstOf(this.#looking, asksMax - asks.length))
      if (!lease.isAsked) add(lease, { least: 0n, wish: 0n });
    for (const { lease } of returns) touch(lease);
    if (this.#asking.size + this.#looking.size > 0) this.#isDue = true;
    const lookers = this.#looking.size > 0 ? [] : this.#lookers.splice(0);
    const given = [...returns.map(({ back }) => back), ...this.#strangers.splice(0)];
    const exchange = { number: ++this.#number, nowMs, returns: given, uses, asks };
    return { exchange, asked, lookers };
  }

  /** Time has passed since it was sent, and windows go by what it is now. */
  #renew({ exchange, asked, lookers }: Sent): Sent {
    const nowMs = Math.floor(this.#options.clock.now());
    const terms = asked.map(({ limit }) => termsOf(limit, nowMs));
    const asks = exchange.asks.map((ask, at) => ({ ...ask, terms: terms[at] ?? ask.terms }));
    const renewed = asked.map((each, at) => {
      const now = terms[at];
      return now?.kind === 'money' ? { ...each, budgets: now.budgets } : each;
    });
    return { exchange: { ...exchange, nowMs, asks }, asked: renewed, lookers };
  }

  #composeReturns() {
    const returns: { readonly lease: Lease; readonly back: LeaseReturn }[] = [];
    for (const lease of this.#returning) {
      const { subject, measure } = lease.limit;
      const amount = lease.giveBack();
      const want = lease.wanted;
      lease.wanted = null;
      if (amount !== 0n || want !== null) returns.push({ lease, back: { subject, measure, amount, want } });
    }
    this.#returning.clear();
    return returns;
  }

  #receive({ asked, lookers }: Sent, { grants, wants, alerts }: LeaseAnswer): void {
    const { clock, book, observer } = this.#options;
    const now = clock.monotonic();
    for (const [at, { lease, limit, budgets, least, isRequest }] of asked.entries()) {
      const grant = grants[at];
      if (grant === undefined) continue;
      const known = limit.fingerprint === lease.limit.fingerprint ? { grant, budgets } : null;
      lease.receive(grant.granted, known, least, isRequest, now);
      if (lease.hasSurplus) this.#returning.add(lease);
    }
    for (const want of wants) {
      const lease = book.find(want);
      if (lease === undefined) this.#strangers.push({ ...want, amount: 0n });
      else {
        lease.wanted = want.want;
        this.#returning.add(lease);
        // More may be leased than there is, as an operator has taken some.
        this.#looking.add(lease);
      }
      this.#isDue = true;
    }
    for (const alert of alerts) {
      const lease = book.find({ subject: alert.subject, measure: 'money' });
      if (lease !== undefined) tell(alert, lease.limit.of, observer);
    }
    for (const looker of lookers) looker.resolve();
    this.#options.onAnswer(asked.map(({ lease }) => lease));
  }
}

/** Takes the first ones out of a set. */
function firstOf<Value>(values: Set<Value>, count: number): readonly Value[] {
  const first: Value[] = [];
  for (const value of values) {
    if (first.length >= count) break;
    first.push(value);
  }
  for (const value of first) values.delete(value);
  return first;
}
