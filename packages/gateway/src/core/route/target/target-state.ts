import type { Uniform } from './beta-draw.ts';
import { Circuit } from './circuit.ts';
import { Hang } from './hang.ts';
import { Latency } from './latency.ts';
import type { SavedParts } from './saved.ts';
import { Silence } from './silence.ts';
import { TargetHealth } from './target-health.ts';

const cacheShareAssumed = 0.5;
const cacheShareStep = 0.1;
const failingMs = 60_000;
/** A prefix of so many tokens makes the whole step; upstreams cache none of a few hundred, which says little. */
const tellingTokens = 4_000;

/** All that is known of one (channel, upstream model), whichever credential it is asked with: a bounded amount, however much it is used. */
export class TargetState {
  readonly health = new TargetHealth();
  readonly latency = new Latency();
  readonly silence = new Silence();
  readonly hang = new Hang();
  readonly circuit = new Circuit();
  /** The share of a returning session's prompt that is found in the upstream's cache. */
  cacheShare = cacheShareAssumed;
  inFlight = 0;
  /** The upstream does not know the model: not asked again until then. */
  missingUntilMs = 0;
  lastSentMs = Number.NEGATIVE_INFINITY;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #failedMs = Number.NEGATIVE_INFINITY;

  sent(nowMs: number): void {
    this.inFlight++;
    this.lastSentMs = nowMs;
    this.circuit.sent(nowMs);
  }

  succeeded(nowMs: number, startMs: number): void {
    this.#answeredMs = nowMs;
    this.health.succeeded(nowMs);
    this.circuit.succeeded(nowMs, startMs, this.health);
    this.hang.began(startMs);
  }

  failed(nowMs: number, startMs: number, weight: number, uniform: Uniform): void {
    this.#failedMs = nowMs;
    this.health.failed(nowMs, weight, nowMs - startMs);
    this.circuit.failed(nowMs, startMs, weight, this.health, uniform);
  }

  /** Whether the last that was heard of it is a failure, and not long ago. */
  isFailing(nowMs: number): boolean {
    return this.#failedMs > this.#answeredMs && nowMs - this.#failedMs < failingMs;
  }

  /** A session came back to a prefix of so many tokens, and so many were read from the cache. */
  foundCached(tokens: number, expectedTokens: number): void {
    const step = cacheShareStep * Math.min(1, expectedTokens / tellingTokens);
    this.cacheShare += step * (Math.min(1, tokens / expectedTokens) - this.cacheShare);
  }

  /** All but what ends with the process: calls under way. `shiftMs`: from the steady clock to that of the wall. */
  save(shiftMs: number): SavedParts {
    return {
      target: {
        cacheShare: this.cacheShare,
        missingUntilMs: this.missingUntilMs + shiftMs,
        lastSentMs: this.lastSentMs + shiftMs,
        answeredMs: this.#answeredMs + shiftMs,
        failedMs: this.#failedMs + shiftMs,
      },
      health: this.health.save(shiftMs),
      ...this.latency.save(shiftMs),
      circuit: this.circuit.save(shiftMs),
    };
  }

  /** `shiftMs`: from the clock of the wall to the steady one. */
  restore(saved: SavedParts, shiftMs: number): void {
    const { target = {}, health = {}, latency = {}, histogram = {}, circuit = {} } = saved;
    this.cacheShare = target['cacheShare'] ?? cacheShareAssumed;
    this.missingUntilMs = (target['missingUntilMs'] ?? 0) + shiftMs;
    this.lastSentMs = (target['lastSentMs'] ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.#answeredMs = (target['answeredMs'] ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.#failedMs = (target['failedMs'] ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.health.restore(health, shiftMs);
    this.latency.restore(latency, histogram, shiftMs);
    this.circuit.restore(circuit, shiftMs);
  }
}
