import type { Quantiles } from './log-histogram.ts';

/** So many calls are remembered; more would prove nothing more. */
const callsMax = 64;
/** Three slow ones, or a dozen of which half should be there: either is an accident in one of some thousand. */
const slowCalls = 3;
const slowRatio = 1.5;
const patientCalls = 12;
/** A call that is late is no sooner done for it: of what takes so long already, as much again is likely, and more. */
const foreboding = 3;
/** While a target's own times are not known. */
const quantilesAssumed: Quantiles = { p50: 1000, p95: 2000, p99: 5000 };

/**
 * Streams that have not begun and were sent after every one that has: what a target owes us. A target that hangs shows
 * here long before its first deadline. Times on a steady clock.
 */
export class Silence {
  #startsMs: number[] = [];

  sent(startMs: number): void {
    if (this.#startsMs.length < callsMax) this.#startsMs.push(startMs);
  }

  /** The call sent then has begun to answer: nothing sent before it is owed more than it was. */
  began(startMs: number): void {
    this.#startsMs = this.#startsMs.filter((each) => each > startMs);
  }

  /** The call sent then has come to another end. */
  ended(startMs: number): void {
    const place = this.#startsMs.indexOf(startMs);
    if (place >= 0) this.#startsMs.splice(place, 1);
  }

  isOverdue(nowMs: number, quantiles: Quantiles | null): boolean {
    const { p50, p95 } = quantiles ?? quantilesAssumed;
    return this.#ageMs(slowCalls, nowMs) > slowRatio * p95 || this.#ageMs(patientCalls, nowMs) > p50;
  }

  /** How long the next call may have to wait, once the first of them waits longer than nearly all; else 0. */
  noticedMs(nowMs: number, quantiles: Quantiles | null): number {
    const ageMs = this.#ageMs(1, nowMs);
    return ageMs > (quantiles ?? quantilesAssumed).p95 ? foreboding * ageMs : 0;
  }

  /** Of the call that so many are at least as old as; 0 when there are not so many. */
  #ageMs(count: number, nowMs: number): number {
    return nowMs - (this.#startsMs[count - 1] ?? nowMs);
  }
}
