import type { AttemptEntry, CallStatus } from '../ports/ledger.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { decodeRoute, type RouteRecord } from '../route/explain.ts';
import type { Choice } from '../route/route.ts';
import type { LeftOut } from '../route/target.ts';

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
  readonly attempts: readonly ReturnType<typeof attemptView>[];
}

export type PastPlan = ReturnType<typeof planView>;

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

/** As `RouteRecord`, with words for people. */
function planView(plan: RouteRecord) {
  const { attemptsBefore, choice, firstChannelId, candidateCount, candidates, exclusions, protocol } = plan;
  return {
    attemptsBefore,
    choice,
    because: choiceWords[choice],
    first: firstChannelId,
    /** The one that the request was translated to; null where it was not. */
    protocol,
    candidateCount,
    candidates: candidates.map(({ channelId, upstreamModel, tier, share, chance, expectedCostPicoUsd }) => ({
      channel: channelId,
      upstreamModel,
      tier,
      share,
      chance,
      expectedCostPicoUsd,
    })),
    exclusions: exclusions.map(({ reason, count, channelIds }) => {
      return { reason, because: exclusionWords[reason], count, channels: channelIds };
    }),
  };
}

/** The cost in nano-dollars, as a decimal integer; null where nobody knows it. */
function attemptView(attempt: AttemptEntry) {
  const { n, channelId: channel, upstreamModel, result, detail, httpStatus, ttftMs, durationMs } = attempt;
  const costNanoUsd = attempt.costNanoUsd?.toString() ?? null;
  return { n, channel, upstreamModel, result, detail, httpStatus, ttftMs, durationMs, costNanoUsd };
}

/** Why a target is left out, for operators; in at most 34 characters, so that it fits a column. */
export const exclusionWords: Readonly<Record<LeftOut, string>> = {
  disabled: 'off, or cannot take such a call',
  'not-allowed': 'not a channel of the group',
  lacks: 'lacks what the call needs',
  context: 'too small for so long a call',
  drained: 'drained by the operator',
  elsewhere: 'does not know the earlier answer',
  tried: 'tried by this call already',
  credential: 'its credential is refused',
  'model-missing': 'does not know the model',
  full: 'has all the calls it is allowed',
  blocked: 'rate limited',
  'no-headroom': 'too little left of its rate limit',
  capped: 'gets as many calls as it takes',
  open: 'out of service after failures',
  probing: 'out of service, a probe is out',
  due: 'out of service, due for a probe',
  failing: 'failed last, as everything does',
  overdue: 'owes answers',
};

/** Why the first one is the first one. */
export const choiceWords: Readonly<Record<Choice, string>> = {
  score: 'drawn by the shares of the scores',
  pinned: 'drawn among those that may know the earlier answer',
  probe: 'its time out of service is over, and one call shows whether it is back',
  hedge: 'the best by score, beside one that was silent',
  panic: 'everything is out of service: what is soonest to recover is tried all the same',
  withheld: 'what is left is doubtful, and the budget for such attempts is spent',
  nothing: 'no channel may be asked',
};
