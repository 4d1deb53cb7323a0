import type { HoldRefusal } from '../ports/holds.ts';
import { type BudgetWindow, type LeaseGrant, rateSlotMs } from '../ports/leases.ts';
import type { Amounts, Limit } from './limit.ts';

/** A lease is granted more, ahead of need, when less than half of what it was granted is left; this mark means: not now. */
const never = -(2n ** 62n);
/**
 * Parts of the amount of a rate that are leased at once: a process that dies may have used one. They are less than a second of a minute,
 * and a minute or so of a day; of a small amount a part is a few calls.
 */
const partsOfMinute = 100n;
const partsOfDay = 1_000n;
const partsOfFew = 20n;
const few = 10n;
const dayMs = 86_400_000;
const looksAfterSpending = 5;
/** More than any lease has. */
const all = 2n ** 62n;
/** How long a refusal is remembered, so that a flood of calls does not reach the store. */
const refusalMs = 250;

/** The state of a limit when the store was asked last. */
export interface Known {
  readonly grant: LeaseGrant;
  readonly budgets: readonly BudgetWindow[];
}

/** A use of a rate, to be told to the store. */
export interface UseInSlot {
  readonly slotStartMs: number;
  amount: bigint;
}

/** Somebody who waits until all of its leases suffice. */
export interface Waiter {
  readonly amounts: Amounts;
  readonly leases: readonly Lease[];
  /** Who came earlier has a lower one. */
  readonly number: number;
  /** On the clock that never jumps. */
  readonly since: number;
  /** The leases that it has a place at: those it has found too small. It keeps them until all are large enough. */
  readonly places: Lease[];
  /** Null: it has taken all that it waits for. Called once, at the latest when the process closes. */
  end(refusal: HoldRefusal | null): void;
}

/** This process's part of a limit. Calls take from it in memory. */
export class Lease {
  limit: Limit;
  /** Neither held nor used. Below zero where calls took more than they held. */
  free = 0n;
  /** Below it, more is asked for ahead of need. */
  lowMark = never;
  /** Running calls that hold something of it. */
  holders = 0;
  /** Calls that wait for it, the first one first. */
  readonly waiters: Waiter[] = [];
  known: Known | null = null;
  /** A part of an exchange that is under way. */
  isAsked = false;
  /** Others may give something back of it, for who waits for it. */
  isLater = false;
  /** The want of another process that is to be answered. */
  wanted: number | null = null;
  /** Set by each use, and taken back by who looks for idle leases. */
  isUsed = true;
  idleSince = 0;
  /** Counts down looks at whether its spending has reached a threshold, as entries are fed later than calls end. */
  looksLeft = 0;
  #uses: UseInSlot[] = [];
  #usedSince = 0n;
  /** Nobody may take from it any more, as more is leased than the limit has: it goes back to the store. */
  #surplus = 0n;
  /** So much of what is free, now or when calls end, becomes surplus. */
  #excess = 0n;
  #pace = 0n;
  #refused: { readonly least: bigint; readonly until: number } | null = null;

  constructor(limit: Limit) {
    this.limit = limit;
  }

  get hasUses(): boolean {
    return this.#uses.length > 0;
  }

  get hasSurplus(): boolean {
    return this.#surplus > 0n;
  }

  /** Nobody needs it any more. */
  get isEmpty(): boolean {
    return this.holders === 0 && this.waiters.length === 0 && !this.isAsked && !this.hasUses;
  }

  /** More was used than leased, and the store has all of it: only then it knows that the debt is used, and not leased. */
  get isDebtFed(): boolean {
    return this.free < 0n && this.isEmpty && this.known?.grant.own === this.free;
  }

  /** True when a call that needs so much has to wait, or is refused. */
  isShort(need: bigint, waiter: Waiter | null): boolean {
    if (need === 0n) return false;
    return this.free < need || (this.waiters.length > 0 && this.waiters[0] !== waiter);
  }

  /** Takes something; requests are used with it, everything else is held. */
  take(need: bigint, nowMs: number): void {
    this.free -= need;
    if (this.limit.counted === 'calls') this.#use(need, nowMs);
    this.isUsed = true;
  }

  /** Gives back what was held, but for what was taken of it. */
  settle(held: bigint, taken: bigint, nowMs: number): void {
    const { counted, windowMs } = this.limit;
    if (counted === 'calls') return;
    const spent = counted === 'places' ? 0n : taken;
    this.free += held - spent;
    this.#skim();
    if (windowMs !== null && spent > 0n) this.#use(spent, nowMs);
    if (counted === 'charge' && taken > 0n) this.looksLeft = looksAfterSpending;
    this.isUsed = true;
  }

  #use(amount: bigint, nowMs: number): void {
    const slotMs = rateSlotMs(this.limit.windowMs ?? 0);
    const slotStartMs = nowMs - (nowMs % slotMs);
    const last = this.#uses.at(-1);
    if (last?.slotStartMs === slotStartMs) last.amount += amount;
    else this.#uses.push({ slotStartMs, amount });
    this.#usedSince += amount;
  }

  /** The uses since they were asked for last. */
  takeUses(): readonly UseInSlot[] {
    const uses = this.#uses;
    this.#uses = [];
    return uses;
  }

  /** Call it once a second: so much was used in it. */
  measurePace(): void {
    this.#pace = this.#usedSince;
    this.#usedSince = 0n;
  }

  /** True when nobody has used it for so long. */
  isIdle(now: number, idleMs: number): boolean {
    if (this.isUsed) this.idleSince = now;
    this.isUsed = false;
    return now - this.idleSince >= idleMs;
  }

  /** The amounts to ask for: what the first who waits lacks, and what would be good to have. */
  wants(): { readonly least: bigint; readonly wish: bigint } {
    const first = this.waiters[0];
    let needed = 0n;
    for (const waiter of this.waiters) needed += needOf(this, waiter.amounts);
    const least = first === undefined ? 0n : needOf(this, first.amounts) - this.free;
    const part = partOf(this.limit);
    const spare = part > this.#pace ? part : this.#pace;
    const wish = needed - (this.free < 0n || needed > 0n ? this.free : 0n) + spare;
    return { least: least > 0n ? least : 0n, wish: wish > 1n ? wish : 1n };
  }

  /** The answer of the store; null where the limit has changed since it was asked. */
  receive(granted: bigint, known: Known | null, least: bigint, isRequest: boolean, now: number): void {
    this.known = known;
    this.isAsked = false;
    this.free += granted;
    if (known !== null) {
      const missing = -known.grant.room - this.#surplus;
      this.#excess = missing > 0n ? missing : 0n;
    }
    this.#skim();
    if (!isRequest || known === null) return;
    const { room, verdict } = known.grant;
    this.lowMark = granted > 0n && room > 0n ? granted / 2n : never;
    this.isLater = verdict === 'later';
    this.#refused = verdict === 'refused' ? { least, until: now + refusalMs } : null;
  }

  /** True when the store has just refused as much, and nothing can have changed. */
  isRefused(need: bigint, now: number): boolean {
    const refused = this.#refused;
    return refused !== null && now < refused.until && need - this.free >= refused.least;
  }

  /** The refusal holds no longer than that. */
  forgetRefusal(at: number): void {
    const refused = this.#refused;
    if (refused !== null && at < refused.until) this.#refused = { least: refused.least, until: at };
  }

  /** Takes out what goes back to the store. */
  giveBack(): bigint {
    const amount = this.free > 0n || this.isDebtFed ? this.free : 0n;
    const given = amount + this.#surplus;
    this.free -= amount;
    this.#surplus = 0n;
    this.lowMark = never;
    return given;
  }

  #skim(): void {
    if (this.free <= 0n || this.#excess === 0n) return;
    const amount = this.free < this.#excess ? this.free : this.#excess;
    this.free -= amount;
    this.#excess -= amount;
    this.#surplus += amount;
  }

  /** The operator has changed the limit: nothing that is known of it holds any more, and nothing is taken before the store has told. */
  retune(limit: Limit): void {
    this.limit = limit;
    this.#excess = all;
    this.#skim();
    this.known = null;
    this.#refused = null;
    this.isLater = false;
    this.lowMark = never;
  }
}

/** The part of a call's amounts that counts for a lease. */
export function needOf(lease: Lease, amounts: Amounts): bigint {
  return amounts[lease.limit.counted];
}

/** The part of a rate that is leased at once. */
function partOf({ amount, windowMs }: Limit): bigint {
  if (windowMs === dayMs) return amount / partsOfDay;
  const part = amount / partsOfMinute;
  const ofFew = amount / partsOfFew;
  if (part > few) return part;
  return ofFew < few ? ofFew : few;
}
