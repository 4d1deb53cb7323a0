import type { NanoUsd } from '../money/money.ts';

/** A time in steps of one length, as the sums of an overview are kept: by hour or by day in UTC. */
export interface OverviewPeriod {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** The sum of all of it is enough: one step, and nothing by what was called. */
  readonly isSumOnly?: boolean;
}

/** Sums over the ended calls of a step, or of a thing. */
export interface OverviewSums {
  readonly calls: number;
  readonly billedCalls: number;
  readonly succeeded: number;
  /** Failures of upstreams and of ours: a caller's own fault is none, nor is one who leaves. */
  readonly failed: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly chargeNanoUsd: NanoUsd;
  readonly costNanoUsd: NanoUsd;
  readonly unknownCosts: number;
}

/** Times to first content, in milliseconds; null where none is known. */
export interface TtftQuantiles {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface OverviewStep extends OverviewSums {
  readonly atMs: number;
  readonly ttft: TtftQuantiles;
}

/** The sums of a model, a key or a channel. */
export interface OverviewTop extends OverviewSums {
  readonly id: string;
}

export type OverviewTopKind = 'model' | 'key' | 'channel';

export interface OverviewReport {
  /** Steps that have calls, oldest first. */
  readonly steps: readonly OverviewStep[];
  readonly ttft: TtftQuantiles;
  readonly tops: Readonly<Record<OverviewTopKind, readonly OverviewTop[]>>;
}

/** Sums for the overview of some accounts, or of all. They are made behind the calls, within about a second. */
export interface OverviewReports {
  overview(accountIds: readonly string[] | null, period: OverviewPeriod): Promise<OverviewReport>;
}
