import { LogHistogram, type Quantiles } from './log-histogram.ts';

const riseShare = 0.15;
const fallShare = 0.08;
/** Until a target has answered. */
const firstContentMsAssumed = 1000;
const tokensPerSecondAssumed = 50;
const speedShare = 0.1;
/** A shorter answer says little of how fast a model writes. */
const outputTokensMin = 20;

const deadlineMsMin = 4000;
const deadlineMsMax = 30_000;
/** While too little is known for a deadline of its own. */
const deadlineMsAssumed = 15_000;

/** How long a target takes to begin an answer and to write it. Milliseconds; times on a steady clock. */
export class Latency {
  readonly #histogram = new LogHistogram();
  #firstContentMs: number | null = null;
  #tokensPerSecond = tokensPerSecondAssumed;

  began(afterMs: number, nowMs: number): void {
    this.#histogram.note(afterMs, nowMs);
    const before = this.#firstContentMs ?? afterMs;
    const share = afterMs > before ? riseShare : fallShare;
    this.#firstContentMs = before + share * (afterMs - before);
  }

  /** Waiting so long was not enough. Noted, lest a deadline that cuts off the slow ones shrinks by what it sees. */
  timedOut(afterMs: number, nowMs: number): void {
    this.#histogram.note(afterMs, nowMs);
  }

  /** So many tokens of output in the time after first content. */
  wrote(outputTokens: number, duringMs: number): void {
    if (outputTokens < outputTokensMin || duringMs <= 0) return;
    const speed = (outputTokens * 1000) / duringMs;
    this.#tokensPerSecond += speedShare * (speed - this.#tokensPerSecond);
  }

  /** What a caller waits until there is something to read: of a stream its beginning, of anything else its end. */
  expectedMs(outputTokens: number, stream: boolean): number {
    const beginsMs = this.#firstContentMs ?? firstContentMsAssumed;
    return stream ? beginsMs : beginsMs + (outputTokens * 1000) / this.#tokensPerSecond;
  }

  quantiles(nowMs: number): Quantiles | null {
    return this.#histogram.quantiles(nowMs);
  }

  /** How long a stream may take to begin (routing.md, "first content"). */
  deadlineMs(nowMs: number): number {
    const { p99 } = this.quantiles(nowMs) ?? { p99: deadlineMsAssumed / 3 };
    return Math.min(deadlineMsMax, Math.max(deadlineMsMin, 3 * p99));
  }
}
