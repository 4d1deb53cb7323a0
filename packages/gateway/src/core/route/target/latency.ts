import { decayFactor } from './decay.ts';
import { LogHistogram, type Quantiles } from './log-histogram.ts';
import type { Saved } from './saved.ts';

const riseShare = 0.15;
const fallShare = 0.08;
/** Where answers are rare, each tells more: half of the estimate is made of what is newer than this. */
const newsHalfLifeMs = 8000;
/** Later than nearly all before it: nothing else tells so soon that a target has become slow, and it may be worse yet. */
const alarmHalfLifeMs = 1000;
const alarmFactor = 1.3;
/** So many times faster than expected, a target is over what made it slow. */
const recoveryRatio = 3;
/** What a target has always been like, as against what it is like at the moment. */
const usualShare = 0.02;
/** A moment is believed to pass: half of the difference after so long without an answer. */
const forgetHalfLifeMs = 600_000;
/** Until a target has answered. */
const firstContentMsAssumed = 1000;
const tokensPerSecondAssumed = 50;
const speedShare = 0.1;
/** A shorter answer says little of how fast a model writes. */
const outputTokensMin = 20;

/** Of the streams that begin, nearly all have begun by then. */
const lateRatio = 1.3;
const lateMsMin = 1500;
/** While a target's own times are not known. */
const p95MsAssumed = 2000;

/** So many time-outs are remembered until an answer says what they were. */
const timeOutsMax = 16;
/** An answer that took this share of a time-out is as slow as what was cut off. */
const slowRatio = 1 / 3;

const deadlineMsMin = 4000;
const deadlineMsMax = 30_000;
/** While too little is known for a deadline of its own. */
const deadlineMsAssumed = 15_000;

type LatencyNumber = 'firstContentMs' | 'usualMs' | 'noteAtMs' | 'tokensPerSecond';

/** How long a target takes to begin an answer and to write it. Milliseconds; times on a steady clock. */
export class Latency {
  readonly #histogram = new LogHistogram();
  /** Since the last answer. */
  #timeOutsMs: number[] = [];
  #firstContentMs: number | null = null;
  #usualMs = 0;
  #noteAtMs = 0;
  #tokensPerSecond = tokensPerSecondAssumed;

  began(afterMs: number, nowMs: number): void {
    // Time-outs before a quick answer were of a hang, which is over. Before a slow one they were of calls as slow, and are
    // noted, lest a deadline that cuts off the slow ones shrinks by what it sees.
    for (const timeOutMs of this.#timeOutsMs)
      if (afterMs >= slowRatio * timeOutMs) this.#histogram.note(timeOutMs, nowMs);
    this.#timeOutsMs = [];
    this.#histogram.note(afterMs, nowMs);
    this.#note(afterMs, nowMs);
  }

  /** Waiting so long was not enough. */
  timedOut(afterMs: number, nowMs: number): void {
    if (this.#timeOutsMs.length < timeOutsMax) this.#timeOutsMs.push(afterMs);
    this.#note(afterMs, nowMs);
  }

  /**
   * A stream that had not begun after so long was given up for another one. Noted only where it is slow already: that a
   * quick one was not waited for says nothing.
   */
  outrun(afterMs: number, nowMs: number): void {
    if (afterMs > this.#beginsMs(nowMs)) this.timedOut(afterMs, nowMs);
  }

  /** So many tokens of output in the time after first content. */
  wrote(outputTokens: number, duringMs: number): void {
    if (outputTokens < outputTokensMin || duringMs <= 0) return;
    const speed = (outputTokens * 1000) / duringMs;
    this.#tokensPerSecond += speedShare * (speed - this.#tokensPerSecond);
  }

  /** What a caller waits until there is something to read: of a stream its beginning, of anything else its end. */
  expectedMs(outputTokens: number, stream: boolean, nowMs: number): number {
    const beginsMs = this.#beginsMs(nowMs);
    return stream ? beginsMs : beginsMs + this.writingMs(outputTokens);
  }

  /** From first content to the end of an answer. */
  writingMs(outputTokens: number): number {
    return (outputTokens * 1000) / this.#tokensPerSecond;
  }

  quantiles(nowMs: number): Quantiles | null {
    return this.#histogram.quantiles(nowMs);
  }

  /**
   * How long a stream may take to begin (routing.md, "first content"). `usual`: of all targets of the model, for one that has not
   * been seen often enough.
   */
  deadlineMs(nowMs: number, usual: Quantiles | null): number {
    const { p99 } = this.quantiles(nowMs) ?? usual ?? { p99: deadlineMsAssumed / 3 };
    return deadlineAfter(p99);
  }

  /** The same for a probe, which finds out whether a target is slow or hangs: nobody waits for it. */
  probeDeadlineMs(nowMs: number, usual: Quantiles | null): number {
    return Math.max(this.deadlineMs(nowMs, usual), deadlineAfter(Math.max(0, ...this.#timeOutsMs)));
  }

  /** When a stream that has not begun is late, so that another target may be asked beside it (routing.md, "hedging"). */
  lateMs(nowMs: number): number {
    const { p95 } = this.quantiles(nowMs) ?? { p95: p95MsAssumed };
    return Math.max(lateMsMin, lateRatio * p95);
  }

  save(shiftMs: number): { readonly latency: Saved<LatencyNumber>; readonly histogram: Saved<string> } {
    const latency = {
      ...(this.#firstContentMs !== null && { firstContentMs: this.#firstContentMs }),
      usualMs: this.#usualMs,
      noteAtMs: this.#noteAtMs + shiftMs,
      tokensPerSecond: this.#tokensPerSecond,
    };
    return { latency, histogram: this.#histogram.save(shiftMs) };
  }

  restore(saved: Saved<LatencyNumber>, histogram: Saved<string>, shiftMs: number): void {
    this.#histogram.restore(histogram, shiftMs);
    if (saved.noteAtMs === undefined) return;
    this.#firstContentMs = saved.firstContentMs ?? null;
    this.#usualMs = saved.usualMs ?? 0;
    this.#noteAtMs = saved.noteAtMs + shiftMs;
    this.#tokensPerSecond = saved.tokensPerSecond ?? tokensPerSecondAssumed;
  }

  #beginsMs(nowMs: number): number {
    if (this.#firstContentMs === null) return firstContentMsAssumed;
    const elapsedMs = nowMs - this.#noteAtMs;
    // Asked of every target for every call: of a second nothing is forgotten.
    if (elapsedMs < 1000) return this.#firstContentMs;
    const left = decayFactor(elapsedMs, forgetHalfLifeMs);
    return this.#usualMs + left * (this.#firstContentMs - this.#usualMs);
  }

  #note(afterMs: number, nowMs: number): void {
    const before = this.#firstContentMs === null ? afterMs : this.#beginsMs(nowMs);
    const elapsedMs = nowMs - this.#noteAtMs;
    if (this.#firstContentMs === null) this.#usualMs = afterMs;
    this.#usualMs += usualShare * (afterMs - this.#usualMs);
    this.#firstContentMs =
      afterMs > before
        ? this.#risen(before, afterMs, elapsedMs, nowMs)
        : before + fallenShare(before, afterMs, elapsedMs) * (afterMs - before);
    this.#noteAtMs = nowMs;
  }

  #risen(before: number, afterMs: number, elapsedMs: number, nowMs: number): number {
    const isAlarming = afterMs > (this.quantiles(nowMs)?.p95 ?? Number.POSITIVE_INFINITY);
    if (!isAlarming) return before + Math.max(riseShare, newsOf(elapsedMs, 0.5)) * (afterMs - before);
    const share = Math.max(riseShare, newsOf(elapsedMs, 0.9, alarmHalfLifeMs));
    return before + share * (alarmFactor * afterMs - before);
  }
}

function fallenShare(before: number, afterMs: number, elapsedMs: number): number {
  return afterMs < before / recoveryRatio ? Math.max(fallShare, newsOf(elapsedMs, 0.4)) : fallShare;
}

/** How much of the estimate an answer makes that comes so long after the one before it. */
function newsOf(elapsedMs: number, shareMax: number, halfLifeMs = newsHalfLifeMs): number {
  return Math.min(shareMax, 1 - decayFactor(elapsedMs, halfLifeMs));
}

function deadlineAfter(usualMs: number): number {
  return Math.min(deadlineMsMax, Math.max(deadlineMsMin, 3 * usualMs));
}
