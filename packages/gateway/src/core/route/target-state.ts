import type { Uniform } from './beta-draw.ts';
import { Capacity } from './capacity.ts';
import { Circuit } from './circuit.ts';
import { Latency } from './latency.ts';
import { Silence } from './silence.ts';
import { TargetHealth } from './target-health.ts';

const cacheShareAssumed = 0.5;
const cacheShareStep = 0.1;

/** All that is known of one (channel, upstream model, credential): a bounded amount, however much it is used. */
export class TargetState {
  readonly health = new TargetHealth();
  readonly latency = new Latency();
  readonly silence = new Silence();
  readonly circuit = new Circuit();
  readonly capacity = new Capacity();
  /** The share of a returning session's prompt that is found in the upstream's cache. */
  cacheShare = cacheShareAssumed;
  inFlight = 0;
  /** The upstream does not know the model: not asked again until then. */
  missingUntilMs = 0;
  lastSentMs = Number.NEGATIVE_INFINITY;

  sent(nowMs: number, inputTokens: number): void {
    this.inFlight++;
    this.lastSentMs = nowMs;
    this.circuit.sent(nowMs);
    this.capacity.sent(nowMs, inputTokens);
  }

  succeeded(nowMs: number, startMs: number): void {
    this.health.succeeded(nowMs);
    this.capacity.succeeded(nowMs);
    this.circuit.succeeded(nowMs, startMs, this.health);
  }

  failed(nowMs: number, startMs: number, weight: number, uniform: Uniform): void {
    this.health.failed(nowMs, weight, nowMs - startMs);
    this.circuit.failed(nowMs, startMs, weight, this.health, uniform);
  }

  /** A session came back and so much of its prompt was cached, from 0 to 1. */
  foundCached(share: number): void {
    this.cacheShare += cacheShareStep * (share - this.cacheShare);
  }
}
