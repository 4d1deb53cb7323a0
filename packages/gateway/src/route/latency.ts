import type { Saved } from './saved.ts';
import { decayFactor } from './time.ts';

const riseShare = 0.15;
const fallShare = 0.08;
/** Rare answers tell more each: half of the estimate is made of what is newer than this. */
const newsHalfLifeMs = 8000;
/** Later than nearly all before it: nothing else tells so soon that a target has become slow, and it may be worse yet. */
const alarmHalfLifeMs = 1000;
const alarmFactor = 1.3;
/** A target that is so many times faster than expected is over what made it slow. */
const recoveryRatio = 3;
/** Each answer's share in what a target has always been like, as against what it is like at the moment. */
const usualShare = 0.02;
/** A moment is believed to pass: half of the difference after so long without an answer. */
const forgetHalfLifeMs = 600_000;
/** Until a target has answered. */
const firstContentMsAssumed = 1000;
const tokensPerSecondAssumed = 50;
const speedShare = 0.1;
/** The same of the pace from the request on. */
const overallShare = 0.2;
/** A shorter answer says little of how fast a model writes. */
const outputTokensMin = 20;

/** Nearly all of the streams that begin have begun by then. */
const lateRatio = 1.3;
const lateMsMin = 1500;
/** While a target's own times are not known. */
const p95MsAssumed = 2000;

/** Time-outs that are remembered until an answer says what they were. */
const timeOutsMax = 16;
/** An answer that took this share of a time-out is as slow as what was cut off. */
const slowRatio = 1 / 3;

const deadlineMsMin = 4000;
const deadlineMsMax = 30_000;
/** While too little is known for a deadline of its own. */
const deadlineMsAssumed = 15_000;

type LatencyNumber =
  | 'firstContentMs'
  | 'usualMs'
  | 'noteAtMs'
  | 'tokensPerSecond'
  | 'overallPerSecond'
  | 'hasReasoned';

/** How long a target takes to begin an answer and to write it. Milliseconds; times on a steady clock. */
export class Latency {
  readonly #histogram = new LogHistogram();
  /** Since the last answer. */
  #timeOutsMs: number[] = [];
  #firstContentMs: number | null = null;
  #usualMs = 0;
  #noteAtMs = 0;
  #tokensPerSecond = tokensPerSecondAssumed;
  /** From the request on: what a model thinks before it speaks is written then. Null before the first answer. */
  #overallPerSecond: number | null = null;
  /** Answers have counted thought. */
  hasReasoned = false;

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

  /** A target has written so many tokens of output in the time after first content, and in that since the request. */
  wrote(outputTokens: number, duringMs: number, overallMs = duringMs): void {
    if (outputTokens < outputTokensMin || duringMs <= 0) return;
    const overall = (outputTokens * 1000) / overallMs;
    this.#overallPerSecond ??= overall;
    this.#overallPerSecond += overallShare * (overall - this.#overallPerSecond);
    const speed = (outputTokens * 1000) / duringMs;
    this.#tokensPerSecond += speedShare * (speed - this.#tokensPerSecond);
  }

  /** The time a caller waits until there is something to read: the beginning of a stream, the end of anything else. */
  expectedMs(outputTokens: number, stream: boolean, nowMs: number): number {
    const beginsMs = this.#beginsMs(nowMs);
    return stream ? beginsMs : beginsMs + this.writingMs(outputTokens);
  }

  /** From first content to the end of an answer. */
  writingMs(outputTokens: number): number {
    return (outputTokens * 1000) / this.#tokensPerSecond;
  }

  /** Tokens that are usually written in so much time since the request. */
  tokensIn(durationMs: number): number {
    return Math.round((durationMs * (this.#overallPerSecond ?? tokensPerSecondAssumed)) / 1000);
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
      ...(this.#overallPerSecond !== null && { overallPerSecond: this.#overallPerSecond }),
      ...(this.hasReasoned && { hasReasoned: 1 }),
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
    this.#overallPerSecond = saved.overallPerSecond ?? null;
    this.hasReasoned = saved.hasReasoned === 1;
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

/** Six bins an octave from 50 ms: the last one holds all above 72 s, and a bin is 12 % wide. */
const binsPerOctave = 6;
const bins = 64;
const lowestMs = 50;
const halfLifeMs = 300_000;
/** Below this weight it has no opinion. */
const weightMin = 5;
/** Weights grow instead of shrinking with time, and are scaled back before they lose precision. */
const weightMax = 1e9;
/** So long a quantile is good enough as it was read last. */
const staleAfterMs = 1000;

/** Quantiles in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Durations of the last minutes in bins of equal ratio, older ones counting less; times on a steady clock. */
export class LogHistogram {
  readonly #weights = new Float64Array(bins);
  #total = 0;
  #landmarkMs = 0;
  #quantiles: Quantiles | null = null;
  #readMs = Number.NEGATIVE_INFINITY;

  note(durationMs: number, nowMs: number): void {
    let weight = 2 ** ((nowMs - this.#landmarkMs) / halfLifeMs);
    if (weight > weightMax) {
      for (let bin = 0; bin < bins; bin++) this.#weights[bin] = (this.#weights[bin] ?? 0) / weight;
      this.#total /= weight;
      this.#landmarkMs = nowMs;
      weight = 1;
    }
    const bin = binOf(durationMs);
    this.#weights[bin] = (this.#weights[bin] ?? 0) + weight;
    this.#total += weight;
  }

  /** Null while too little is known. */
  quantiles(nowMs: number): Quantiles | null {
    if (nowMs - this.#readMs < staleAfterMs) return this.#quantiles;
    this.#readMs = nowMs;
    const known = this.#total >= weightMin * 2 ** ((nowMs - this.#landmarkMs) / halfLifeMs);
    this.#quantiles = known
      ? { p50: this.#quantile(0.5), p95: this.#quantile(0.95), p99: this.#quantile(0.99) }
      : null;
    return this.#quantiles;
  }

  /** Weights by the number of their bin, beside the landmark they are counted from. */
  save(shiftMs: number): Saved<string> {
    const saved: Record<string, number> = { landmarkMs: this.#landmarkMs + shiftMs, total: this.#total };
    for (const [bin, weight] of this.#weights.entries()) if (weight > 0) saved[bin] = weight;
    return saved;
  }

  restore(saved: Saved<string>, shiftMs: number): void {
    const { landmarkMs, total } = saved;
    if (landmarkMs === undefined || total === undefined) return;
    this.#landmarkMs = landmarkMs + shiftMs;
    this.#total = total;
    for (let bin = 0; bin < bins; bin++) this.#weights[bin] = saved[bin] ?? 0;
  }

  #quantile(share: number): number {
    let left = share * this.#total;
    for (let bin = 0; bin < bins; bin++) {
      const weight = this.#weights[bin] ?? 0;
      if (weight >= left) return edgeMs(bin + left / weight);
      left -= weight;
    }
    return edgeMs(bins);
  }
}

function binOf(durationMs: number): number {
  const bin = Math.floor(binsPerOctave * Math.log2(Math.max(durationMs, lowestMs) / lowestMs));
  return Math.min(bins - 1, bin);
}

/** The lower edge of a bin; for a fraction, a place within one. */
function edgeMs(bin: number): number {
  return lowestMs * 2 ** (bin / binsPerOctave);
}

/** Calls that are remembered; more would prove nothing more. */
const callsMax = 64;
/** Three slow ones, or a dozen of which half should be there: either is an accident in one of some thousand. */
const slowCalls = 3;
const overdueRatio = 1.5;
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
    return this.#ageMs(slowCalls, nowMs) > overdueRatio * p95 || this.#ageMs(patientCalls, nowMs) > p50;
  }

  /** How long the next call may have to wait, once the first of them waits longer than nearly all; else 0. */
  noticedMs(nowMs: number, quantiles: Quantiles | null): number {
    const ageMs = this.#ageMs(1, nowMs);
    return ageMs > (quantiles ?? quantilesAssumed).p95 ? foreboding * ageMs : 0;
  }

  /** When the first of them is noticed, or enough are overdue, if nothing comes until then; infinite when neither may be. */
  turnsAtMs(nowMs: number, quantiles: Quantiles | null): number {
    const { p50, p95 } = quantiles ?? quantilesAssumed;
    const never = Number.POSITIVE_INFINITY;
    const noticedAtMs = (this.#startsMs[0] ?? never) + p95;
    return Math.min(
      noticedAtMs >= nowMs ? noticedAtMs : never,
      (this.#startsMs[slowCalls - 1] ?? never) + overdueRatio * p95,
      (this.#startsMs[patientCalls - 1] ?? never) + p50,
    );
  }

  /** The age of the call that so many are at least as old as; 0 when there are not so many. */
  #ageMs(count: number, nowMs: number): number {
    return nowMs - (this.#startsMs[count - 1] ?? nowMs);
  }
}

/** One that waits in vain may be an accident, and so may two. */
const callsMin = 3;

/** Tells if somebody has given nothing to anyone for a while. Times on a steady clock. */
export class Hang {
  #sinceMs = Number.POSITIVE_INFINITY;
  #calls = 0;

  /** The call sent then has waited in vain for first content. */
  timedOut(startMs: number): void {
    this.#sinceMs = Math.min(this.#sinceMs, startMs);
    this.#calls++;
  }

  /** The call sent then has begun to answer: nothing hangs that was sent as late. */
  began(startMs: number): void {
    if (startMs < this.#sinceMs) return;
    this.#sinceMs = Number.POSITIVE_INFINITY;
    this.#calls = 0;
  }

  /** How long the call sent then has waited where others waited in vain; 0 where there is hope. */
  waitedMs(startMs: number, nowMs: number): number {
    return this.#calls < callsMin ? 0 : nowMs - Math.max(this.#sinceMs, startMs);
  }
}
