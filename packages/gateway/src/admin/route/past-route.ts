import type { Choice, LeftOut } from '../../core/route/choice/considered.ts';
import { decodeRoute, type PlanRecord } from '../../core/route/explain/route-record.ts';
import type { AttemptEntry, AttemptResult, CallStatus } from '../../ports/ledger.ts';
import type { LedgerRecord } from '../../ports/store.ts';
import { choiceWords, exclusionWords } from './route-words.ts';

/** How a call that was made was routed, as programs read it. It names channels: for operators alone. */
export interface PastRoute {
  readonly traceId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly status: CallStatus;
  readonly key: string;
  readonly group: string;
  readonly model: string;
  /** That of the first attempt, then one for each further attempt; empty when the call was refused before. */
  readonly plans: readonly PastPlan[];
  readonly attempts: readonly PastAttempt[];
}

/** As `PlanRecord`, with words for people. */
export interface PastPlan {
  readonly attemptsBefore: number;
  readonly choice: Choice;
  readonly because: string;
  readonly first: string | null;
  readonly candidateCount: number;
  readonly candidates: readonly {
    readonly channel: string;
    readonly upstreamModel: string;
    readonly tier: number;
    readonly share: number;
    readonly chance: number;
    readonly expectedCostPicoUsd: number;
  }[];
  readonly exclusions: readonly {
    readonly reason: LeftOut;
    readonly because: string;
    readonly count: number;
    readonly channels: readonly string[];
  }[];
}

export interface PastAttempt {
  readonly n: number;
  readonly channel: string;
  readonly upstreamModel: string;
  readonly result: AttemptResult;
  readonly detail: string | null;
  readonly httpStatus: number | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
  /** Nano-dollars, as a decimal integer. */
  readonly costNanoUsd: string;
}

export function pastRoute(record: LedgerRecord): PastRoute {
  return {
    traceId: record.traceId,
    startedAt: new Date(record.startedAtMs).toISOString(),
    status: record.status,
    key: record.keyId,
    group: record.groupId,
    model: record.modelRequested,
    plans: decodeRoute(record.route).map(planView),
    attempts: record.attempts.map(attemptView),
  };
}

function planView(plan: PlanRecord): PastPlan {
  const { attemptsBefore, choice, firstChannelId, candidateCount, candidates, exclusions } = plan;
  return {
    attemptsBefore,
    choice,
    because: choiceWords[choice],
    first: firstChannelId,
    candidateCount,
    candidates: candidates.map(({ channelId, upstreamModel, tier, share, chance, expectedCostPicoUsd }) => ({
      channel: channelId,
      upstreamModel,
      tier,
      share,
      chance,
      expectedCostPicoUsd,
    })),
    exclusions: exclusions.map(({ reason, count, channelIds }) => ({
      reason,
      because: exclusionWords[reason],
      count,
      channels: channelIds,
    })),
  };
}

function attemptView(attempt: AttemptEntry): PastAttempt {
  const { n, channelId, upstreamModel, result, detail, httpStatus, ttftMs, durationMs, costNanoUsd } =
    attempt;
  return {
    n,
    channel: channelId,
    upstreamModel,
    result,
    detail,
    httpStatus,
    ttftMs,
    durationMs,
    costNanoUsd: costNanoUsd.toString(),
  };
}
