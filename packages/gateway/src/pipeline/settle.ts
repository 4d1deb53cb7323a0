import {
  type ImageKind,
  mergeImageKinds,
  noImageKind,
  noUsage,
  type Reading,
  totalOutput,
  type UpstreamRefusal,
  type Usage,
  unreachable,
  type Work,
} from '@headgate/protocols';
import { type NanoUsd, zeroNanoUsd } from '../core/money.ts';
import { priceUsage } from '../core/price.ts';
import { encodeRoute } from '../core/route/explain/route-record.ts';
import { isCallersFault } from '../core/route/outcome/fallback.ts';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { AttemptEntry, AttemptResult, CallEntry, CallOpening, UnbilledReason } from '../ports/ledger.ts';
import type { Tariff } from './admit.ts';
import type { AttemptRecord } from './attempt.ts';
import type { Delivery } from './deliver.ts';
import { lossNames } from './losses.ts';
import { type Metered, meter } from './meter.ts';

/** What the call's end adds to what was known at its beginning. */
export interface Closing {
  readonly work: Work;
  readonly opening: CallOpening;
  /** Null when the call was refused before it was admitted. */
  readonly tariff: Tariff | null;
  readonly delivery: Delivery;
  readonly inputTokensEstimate: number;
  /** What the caller allowed; null when it set no limit. */
  readonly outputTokensMax: number | null;
  /** Of the images asked for; null when none were. */
  readonly imageKind: ImageKind | null;
  readonly durationMs: number;
  readonly overheadUs: number;
  readonly ttftMs: number | null;
  readonly finishedAtMs: number;
}

/** Builds the one entry of a call: what it used, whether it is billed, and if not, why (ledger.md, "One entry per call"). */
export function entryOf(closing: Closing): CallEntry {
  const { opening, tariff, delivery } = closing;
  const last = delivery.attempts.at(-1);
  const reading = readingOf(last?.outcome);
  const metered = meter(reading, closing);
  const hasOutput = (reading?.hasOutput ?? false) || totalOutput(metered.usage) > 0;
  const verdict = judge(closing, last?.outcome, hasOutput);
  const unbilledReason = verdict.unbilledReason ?? (tariff?.price ? null : 'unpriced_model');
  const isBilled = unbilledReason === null;
  const imageKind = kindOf(reading, closing.imageKind);
  return {
    ...opening,
    status: verdict.status,
    unbilledReason,
    channelId: last?.target.channel.id ?? null,
    modelServed: reading?.modelServed ?? null,
    usage: metered.usage,
    usageSource: metered.source,
    imageKind,
    chargeNanoUsd: isBilled ? charge(tariff, metered.usage, imageKind) : zeroNanoUsd,
    finishReason: reading?.finishReason ?? null,
    finishReasonRaw: reading?.finishReasonRaw ?? null,
    httpStatus: httpStatusOf(delivery),
    errorCode: delivery.finish.kind === 'failed' ? delivery.finish.fault.code : null,
    losses: last === undefined ? [] : lossNames(last.lane.losses),
    ttftMs: closing.ttftMs === null ? null : roundMs(closing.ttftMs),
    durationMs: roundMs(closing.durationMs),
    overheadUs: closing.overheadUs,
    finishedAtMs: closing.finishedAtMs,
    attempts: delivery.attempts.map((record, index) => attemptEntry(record, index + 1, closing)),
    route: encodeRoute(delivery.plans),
  };
}

/** What is to be said of a call whose entry the ledger did not take; `closing` tells what the caller saw instead. */
export function unsettledEntryOf(closing: Closing): CallEntry {
  const entry = entryOf(closing);
  return {
    ...entry,
    status: 'failed',
    unbilledReason: 'ledger_failed',
    chargeNanoUsd: zeroNanoUsd,
    errorCode: entry.errorCode ?? 'internal',
  };
}

/** To microseconds: what lies behind them is noise of floats. */
function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

function charge(tariff: Tariff | null, usage: Usage, kind: ImageKind | null): NanoUsd {
  if (!tariff?.price) return zeroNanoUsd;
  return priceUsage(usage, tariff.price, tariff.multiplierPpm, kind ?? noImageKind);
}

/** What the upstream charges us. */
function costOf({ target, outcome }: AttemptRecord, usage: Usage, { work, imageKind }: Closing): NanoUsd {
  const kind = kindOf(readingOf(outcome), imageKind) ?? noImageKind;
  return target.cost === null || work === 'count'
    ? zeroNanoUsd
    : priceUsage(usage, target.cost, 1_000_000n, kind);
}

interface Verdict {
  readonly status: CallEntry['status'];
  readonly unbilledReason: UnbilledReason | null;
}

function judge({ delivery, work }: Closing, outcome: Outcome | undefined, hasOutput: boolean): Verdict {
  switch (delivery.finish.kind) {
    case 'answered':
      if (work === 'count') return { status: 'complete', unbilledReason: 'token_count' };
      // A model that ended in an error gave no answer, whatever it used.
      if (readingOf(outcome)?.finishReason === 'error')
        return { status: 'failed', unbilledReason: 'upstream_failed' };
      return hasOutput
        ? { status: 'complete', unbilledReason: null }
        : { status: 'failed', unbilledReason: 'zero_completion' };
    case 'caller-gone': {
      const sawContent = outcome?.kind === 'caller-gone' && outcome.committed;
      return { status: 'caller_gone', unbilledReason: sawContent ? null : 'caller_gone_before_content' };
    }
    case 'failed':
      return judgeFailure(outcome);
    default:
      return unreachable(delivery.finish);
  }
}

function judgeFailure(outcome: Outcome | undefined): Verdict {
  switch (outcome?.kind) {
    case undefined:
      return { status: 'failed', unbilledReason: 'refused_by_gateway' };
    case 'refused':
      return { status: 'failed', unbilledReason: reasonOfRefusal(outcome.refusal) };
    case 'timed-out':
      // A stall is a failure of the answer; only a wait for its beginning or the deadline is a time-out.
      return outcome.phase === 'stall'
        ? { status: 'failed', unbilledReason: 'cut_after_content' }
        : { status: 'timed_out', unbilledReason: 'timed_out' };
    case 'shut-down':
    case 'bug':
      return {
        status: 'failed',
        unbilledReason: outcome.committed ? 'cut_after_content' : 'refused_by_gateway',
      };
    case 'cut':
      return {
        status: 'failed',
        unbilledReason: outcome.committed ? 'cut_after_content' : 'upstream_failed',
      };
    case 'unreachable':
      return { status: 'failed', unbilledReason: 'upstream_failed' };
    case 'answered':
    case 'caller-gone':
    case 'outrun':
      return { status: 'failed', unbilledReason: 'refused_by_gateway' };
    default:
      return unreachable(outcome);
  }
}

function reasonOfRefusal(refusal: UpstreamRefusal): UnbilledReason {
  if (isCallersFault(refusal)) return 'refused_by_upstream';
  return refusal.kind === 'blank' ? 'zero_completion' : 'upstream_failed';
}

/** What was asked for, where the answer does not say what it made. */
function kindOf(reading: Reading | null, asked: ImageKind | null): ImageKind | null {
  return asked === null ? null : mergeImageKinds(reading?.images?.kind ?? noImageKind, asked);
}

function readingOf(outcome: Outcome | undefined): Reading | null {
  return outcome !== undefined && 'reading' in outcome ? outcome.reading : null;
}

/** What the caller saw: 200 once an answer had begun, however it ended. */
function httpStatusOf({ finish }: Delivery): number | null {
  switch (finish.kind) {
    case 'answered':
      return 200;
    case 'failed':
      return finish.begun ? 200 : finish.fault.status;
    case 'caller-gone':
      return finish.begun ? 200 : null;
    default:
      return unreachable(finish);
  }
}

function attemptEntry(record: AttemptRecord, n: number, closing: Closing): AttemptEntry {
  const { target, outcome } = record;
  const metered = meterAttempt(outcome, closing);
  return {
    n,
    channelId: target.channel.id,
    upstreamModel: target.upstreamModel,
    upstreamRequestId: record.upstreamRequestId,
    result: resultOf(outcome),
    detail: detailOf(record),
    httpStatus: record.httpStatus,
    ttftMs: record.ttftMs === null ? null : roundMs(record.ttftMs),
    durationMs: roundMs(record.durationMs),
    usage: metered.source === 'none' ? null : metered.usage,
    lane: record.lane.kind,
    edits: record.lane.request.edits,
    costNanoUsd: costOf(record, metered.usage, closing),
  };
}

/** An upstream charges for what it was asked, whether or not we let go of it while another one answers. */
function meterAttempt(outcome: Outcome, closing: Closing): Metered {
  const metered = meter(readingOf(outcome), closing);
  if (outcome.kind !== 'outrun' || metered.source !== 'none') return metered;
  return { usage: { ...noUsage, inputFresh: closing.inputTokensEstimate }, source: 'estimated' };
}

function resultOf(outcome: Outcome): AttemptResult {
  switch (outcome.kind) {
    case 'answered':
    case 'refused':
    case 'unreachable':
      return outcome.kind;
    case 'timed-out':
      return 'timed_out';
    case 'cut':
    case 'shut-down':
    case 'bug':
      return outcome.committed ? 'cut_after_content' : 'cut_before_content';
    case 'caller-gone':
      return 'caller_gone';
    case 'outrun':
      return 'aborted';
    default:
      return unreachable(outcome);
  }
}

/** For the operator, who is told all but our credentials: some upstreams repeat them. */
function detailOf({ target, outcome }: AttemptRecord): string | null {
  let detail = wordsOf(outcome);
  if (detail === null) return null;
  for (const { secret } of target.channel.credentials) detail = detail.replaceAll(secret, '[key]');
  return detail.slice(0, 500);
}

function wordsOf(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'answered':
    case 'caller-gone':
      return null;
    case 'refused':
      return `${outcome.refusal.kind}: ${outcome.refusal.message}`;
    case 'shut-down':
      return 'the gateway had to stop';
    case 'outrun':
      return 'another attempt decided the call';
    case 'bug':
      return 'a bug in the gateway';
    case 'timed-out':
      return outcome.phase;
    case 'unreachable':
    case 'cut':
      return outcome.detail;
    default:
      return unreachable(outcome);
  }
}
