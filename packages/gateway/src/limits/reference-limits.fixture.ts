import type { OwnerLimits } from '../catalogue/limits.ts';
import { Windows } from './windows.ts';

/** A call as the reference knows it. */
export interface ReferenceCall {
  readonly owners: readonly OwnerLimits[];
  readonly startedAtMs: number;
  charge: bigint;
  tokens: number;
}

interface Use {
  readonly atMs: number;
  readonly amount: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Everything that happened of an owner, without leases, processes or a store. */
class ReferenceOwner {
  readonly limits: OwnerLimits;
  balance = 0n;
  readonly #windows: Windows;
  readonly #charged = new Map<string, bigint>();
  readonly #calls = new Set<ReferenceCall>();
  #requests: Use[] = [];
  #tokens: Use[] = [];

  constructor(limits: OwnerLimits) {
    this.limits = limits;
    this.#windows = new Windows(limits.timeZone);
  }

  begin(call: ReferenceCall, nowMs: number): void {
    this.#calls.add(call);
    this.#requests.push({ atMs: nowMs, amount: 1 });
  }

  end(call: ReferenceCall, charge: bigint, tokens: number, nowMs: number): void {
    this.#calls.delete(call);
    this.balance -= charge;
    for (const { span } of this.limits.budgets) {
      const name = this.#nameOf(span, call.startedAtMs);
      this.#charged.set(name, (this.#charged.get(name) ?? 0n) + charge);
    }
    if (tokens > 0) this.#tokens.push({ atMs: nowMs, amount: tokens });
  }

  forget(call: ReferenceCall): void {
    this.#calls.delete(call);
  }

  /** The money that there is, running calls left out. */
  available(nowMs: number): bigint | null {
    const { creditLimitNanoUsd: credit, budgets } = this.limits;
    const lefts = budgets.map(
      ({ span, amountNanoUsd }) => amountNanoUsd - (this.#charged.get(this.#nameOf(span, nowMs)) ?? 0n),
    );
    if (credit !== null) lefts.push(this.balance + credit);
    return lefts.length === 0 ? null : lefts.reduce((a, b) => (b < a ? b : a));
  }

  /** The first limit that is broken now, in words. */
  broken(nowMs: number): string | null {
    const held = [...this.#calls].reduce((sum, { charge }) => sum + charge, 0n);
    const { creditLimitNanoUsd: credit, budgets, rates, id } = this.limits;
    if (credit !== null && this.balance + credit < held)
      return `${id}: balance ${this.balance}, held ${held}`;
    for (const { span, amountNanoUsd } of budgets) {
      const name = this.#nameOf(span, nowMs);
      const begun = [...this.#calls].filter((call) => this.#nameOf(span, call.startedAtMs) === name);
      const all = begun.reduce((sum, { charge }) => sum + charge, this.#charged.get(name) ?? 0n);
      if (all > amountNanoUsd) return `${id}: ${all} of the ${span}'s ${amountNanoUsd}`;
    }
    for (const { kind, amount } of rates) {
      const used = this.#usedOf(kind, nowMs);
      if (used > amount) return `${id}: ${used} ${kind} of ${amount}`;
    }
    return null;
  }

  #usedOf(kind: OwnerLimits['rates'][number]['kind'], nowMs: number): number {
    const sum = (uses: readonly Use[], forMs: number) =>
      uses.reduce((total, { atMs, amount }) => (atMs > nowMs - forMs ? total + amount : total), 0);
    this.#requests = this.#requests.filter(({ atMs }) => atMs > nowMs - dayMs);
    this.#tokens = this.#tokens.filter(({ atMs }) => atMs > nowMs - minuteMs);
    if (kind === 'concurrent-calls') return this.#calls.size;
    if (kind === 'requests-per-day') return sum(this.#requests, dayMs);
    if (kind === 'requests-per-minute') return sum(this.#requests, minuteMs);
    const held = [...this.#calls].reduce((total, { tokens }) => total + tokens, 0);
    return held + sum(this.#tokens, minuteMs);
  }

  #nameOf(span: 'day' | 'month' | 'total', atMs: number): string {
    return `${span} ${this.#windows.at(span, atMs).fromMs}`;
  }
}

/** Limits as they would be in one process that forgets nothing. */
export class ReferenceLimits {
  readonly #owners = new Map<string, ReferenceOwner>();

  of(limits: OwnerLimits): ReferenceOwner {
    const name = `${limits.owner}:${limits.id}`;
    const known = this.#owners.get(name) ?? new ReferenceOwner(limits);
    this.#owners.set(name, known);
    return known;
  }

  begin(call: ReferenceCall, nowMs: number): void {
    for (const owner of call.owners) this.of(owner).begin(call, nowMs);
  }

  end(call: ReferenceCall, charge: bigint, tokens: number, nowMs: number): void {
    for (const owner of call.owners) this.of(owner).end(call, charge, tokens, nowMs);
  }

  forget(call: ReferenceCall): void {
    for (const owner of call.owners) this.of(owner).forget(call);
  }

  broken(nowMs: number): string | null {
    for (const owner of this.#owners.values()) {
      const broken = owner.broken(nowMs);
      if (broken !== null) return broken;
    }
    return null;
  }

  /** The money that a caller has, where no call runs. */
  available(owners: readonly OwnerLimits[], nowMs: number): bigint {
    const lefts = owners.flatMap((owner) => this.of(owner).available(nowMs) ?? []);
    return lefts.reduce((a, b) => (b < a ? b : a));
  }
}
