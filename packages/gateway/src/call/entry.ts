import {
  beginningOf,
  fault,
  type InboundRequest,
  mergeTerms,
  noTerms,
  noUsage,
  type Reading,
  totalOutput,
  type Usage,
  type UsageTerms,
  unreachable,
} from '@headgate/protocols';
import { unsaid } from '../catalogue/served.ts';
import { type Estimates, type Metered, meter } from '../money/meter.ts';
import { type NanoUsd, readNanoUsd, zeroNanoUsd } from '../money/money.ts';
import { billableStatuses } from '../money/postings.ts';
import { priceUsage } from '../money/price.ts';
import type { AttemptEntry, CallEntry, CallOpening, Settlement } from '../ports/ledger.ts';
import { encodeRoute } from '../route/explain.ts';
import { type Outcome, type OutcomeRow, outcomeTable, rowOf } from '../route/outcomes.ts';
import { wordsOn } from '../route/words.ts';
import { alertUncounted } from './detours/odd-answer.ts';
import {
  type Charged,
  chargedBy,
  costOfShares,
  partsToStore,
  type Share,
  sharesIn,
} from './detours/shares.ts';
import { alertDrift, alertUnpriced, sentTerms } from './detours/unpriced.ts';
import { type AttemptRecord, alertBug, type CallEnd } from './outcomes.ts';
import { lossNames, sendFinish } from './reply.ts';
import type { Call } from './request.ts';

/** Writes the entry of a call, and sends the end of its answer once that is durable. Never throws. */
export function settle(call: Call, finish: CallEnd): void {
  const abandon = (error: unknown): void => {
    alertBug(error, call.inbound.traceId, call.gateway.observer);
    call.reply.abandon();
    call.ended();
  };
  try {
    const entry = entryOf(call, finish);
    call.gateway.ledger.settle(entry, (settlement) => {
      try {
        conclude(call, finish, entry, settlement);
      } catch (error) {
        return abandon(error);
      }
      call.ended();
    });
  } catch (error) {
    abandon(error);
  }
}

function conclude(call: Call, finish: CallEnd, entry: CallEntry, settlement: Settlement): void {
  const { observer } = call.gateway;
  const isDurable = settlement === 'settled';
  // Whoever sees the end of its call may take what is left of its limits.
  if (call.hold !== null) call.hold.settle(isDurable ? entry : null);
  const told = isDurable ? finish : withheld(finish, call.reply.begun);
  sendFinish(call, told);
  observer.callFinished(isDurable ? entry : unsettledEntryOf(entry, told), call.attempts);
  if (settlement === 'unavailable') observer.alert('ledger-unavailable', { traceId: entry.traceId });
  for (const attempt of entry.attempts) if (attempt.statedCostNanoUsd !== null) alertDrift(attempt, observer);
  const { terms, usage, unbilledReason } = entry;
  // Two answers that were sold as one are estimated, however well both were counted.
  if (entry.usageSource === 'estimated' && finish.kind === 'answered' && call.sold === null)
    alertUncounted(call.attempts.at(-1), call.gateway);
  const hasTerms = terms !== null || usage.webSearches + usage.fileSearches + usage.codeSessions > 0;
  if (
    call.price !== null &&
    unbilledReason === null &&
    (hasTerms || usage.citation + usage.pages + usage.groundings > 0)
  )
    alertUnpriced(entry, call.price, observer);
  const { models } = call.gateway.catalogue.current;
  // A price may have come while the call was made, and the operator been told that it is there.
  if (entry.unbilledReason === 'unpriced_model' && models.get(entry.modelRequested)?.price === null)
    observer.alert('unpriced-model', { model: entry.modelRequested });
}

/** The same call when its entry could not be written: the end of its answer is not sent, but an error instead. */
function withheld(finish: CallEnd, begun: boolean): CallEnd {
  return finish.kind === 'answered' ? { kind: 'failed', fault: fault('store_unavailable'), begun } : finish;
}

/** A call whose entry the ledger did not take, as the observer hears of it; `told` is how it ended for its caller. */
export function unsettledEntryOf(entry: CallEntry, told: CallEnd): CallEntry {
  return {
    ...entry,
    status: 'failed',
    unbilledReason: 'ledger_failed',
    chargeNanoUsd: zeroNanoUsd,
    httpStatus: httpStatusOf(told),
    errorCode: told.kind === 'failed' ? told.fault.code : 'store_unavailable',
  };
}

export function openingOf({
  inbound,
  caller,
  protocol,
  request,
  price,
  tag,
  multiplierPpm,
}: Call): CallOpening {
  const { traceId, receivedAtMs } = inbound;
  const { model } = request.facts;
  return {
    traceId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    groupId: caller.group.id,
    surface: protocol.id,
    // Cut only where there is something to cut: every call passes here.
    modelRequested: model.length > 200 ? beginningOf(model, 200) : model,
    stream: request.facts.stream,
    startedAtMs: receivedAtMs,
    priceVersion: price?.id ?? null,
    multiplierPpm,
    clientRequestId: inbound.header('x-client-request-id')?.slice(0, 200) ?? null,
    parentTrace: inbound.header('traceparent')?.slice(0, 200) ?? null,
    userAgent: inbound.header('user-agent')?.slice(0, 200) ?? null,
    tag: tag ?? request.facts.tag ?? null,
  };
}

/** Builds the one entry of a call: what it used, whether it is billed, and if not, why (ledger.md, "One entry per call"). */
export function entryOf(call: Call, finish: CallEnd): CallEntry {
  const { gateway, inbound, request, price, attempts, routes } = call;
  const now = gateway.clock.monotonic();
  const { receivedAt, work } = inbound;
  const estimates = estimatesOf(request);
  const last = call.sold?.record ?? attempts.at(-1);
  const isAsking = request.facts.terms !== undefined;
  const reading = readingOf(last?.outcome);
  const asked =
    isAsking && last !== undefined ? sentTerms(request, last.losses, reading?.terms, price) : noTerms;
  const { usage, source } = call.sold?.metered ?? meter(reading, estimates, producedIn(last?.outcome));
  const hasOutput = (reading?.hasOutput ?? false) || totalOutput(usage) > 0;
  const isCount = work === 'count';
  const verdict = judge(finish, isCount, last?.outcome, hasOutput);
  const unbilledReason = verdict.unbilled ?? (price === null ? 'unpriced_model' : null);
  const terms = mergeTerms(reading?.terms ?? noTerms, asked);
  let sentAt = now;
  const shares: (readonly Share[] | null)[] = [];
  for (const { startedAt, target, outcome } of attempts) {
    sentAt = Math.min(sentAt, startedAt);
    const read = 'reading' in outcome ? outcome.reading : null;
    // Written out here, because every call passes: nearly no answer names another model than was asked for.
    const said = read?.modelServed ?? target.upstreamModel;
    const namesOther =
      (read?.iterations ?? null) !== null ||
      (said !== target.upstreamModel &&
        call.served.get(target.channel.id)?.has(said.toLowerCase().replace(unsaid, '')) === true);
    shares.push(
      namesOther && read !== null ? sharesIn(call, target, read, meterAttempt(outcome, estimates)) : null,
    );
  }
  const lastShares = call.sold === null ? (shares.at(-1) ?? null) : null;
  const charged: Charged | null =
    price === null ? null : lastShares === null ? { price, parts: null } : chargedBy(lastShares, price);
  const parts = charged?.parts ?? null;
  return {
    ...openingOf(call),
    priceVersion: charged?.price.id ?? null,
    status: verdict.status,
    unbilledReason,
    channelId: last?.target.channel.id ?? null,
    modelServed: reading?.modelServed ?? null,
    usage,
    usageSource: source,
    parts: parts === null ? null : partsToStore(parts),
    terms: terms === noTerms ? null : terms,
    chargeNanoUsd:
      unbilledReason === null && charged !== null
        ? priceUsage(usage, charged.price, call.multiplierPpm, terms, parts)
        : zeroNanoUsd,
    leased: call.hold === null ? 0 : call.hold.leased,
    finishReason: reading?.finishReason ?? null,
    finishReasonRaw: reading?.finishReasonRaw ?? null,
    httpStatus: httpStatusOf(finish),
    errorCode: finish.kind === 'failed' ? finish.fault.code : null,
    losses: last === undefined ? [] : lossNames(last.losses),
    // From the request's last byte: failed attempts and waits count too.
    ttftMs: last?.ttftMs == null ? null : roundMs(last.startedAt - receivedAt + last.ttftMs),
    durationMs: roundMs(now - receivedAt),
    // To the moment the first request was sent upstream, or, if none was, the refusal decided.
    overheadUs: Math.round((sentAt - receivedAt) * 1000),
    finishedAtMs: gateway.clock.now(),
    attempts: attempts.map((record, at) => {
      const said = isAsking ? readingOf(record.outcome)?.terms : undefined;
      const sent = isAsking ? sentTerms(request, record.losses, said, record.target.cost) : noTerms;
      return attemptEntry(record, shares[at] ?? null, at + 1, isCount, estimates, sent);
    }),
    route: encodeRoute(routes),
  };
}

function estimatesOf({ facts }: InboundRequest): Estimates {
  const { inputTokensEstimate, maxOutputTokens, choices } = facts;
  const outputTokensMax = maxOutputTokens === null ? null : maxOutputTokens * choices;
  return { inputTokensEstimate, outputTokensMax };
}

/** To microseconds: what lies behind them is noise of floats. */
function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

const billed = { status: 'complete', unbilled: null } as const;
const counted = { status: 'complete', unbilled: 'token_count' } as const;
const failedUpstream = { status: 'failed', unbilled: 'upstream_failed' } as const;
const saidNothing = { status: 'failed', unbilled: 'zero_completion' } as const;
const refusedByUs = { status: 'failed', unbilled: 'refused_by_gateway' } as const;

function judge(
  finish: CallEnd,
  isCount: boolean,
  outcome: Outcome | undefined,
  hasOutput: boolean,
): Pick<OutcomeRow, 'status' | 'unbilled'> {
  switch (finish.kind) {
    case 'answered':
      if (isCount) return counted;
      // A model that ended in an error gave no answer, whatever it used.
      if (readingOf(outcome)?.finishReason === 'error') return failedUpstream;
      return hasOutput ? billed : saidNothing;
    case 'caller-gone':
      // It may have left while the call waited, after an attempt that ended in another way.
      return outcome?.kind === 'caller-gone' ? rowOf(outcome) : outcomeTable['caller-gone'];
    case 'failed': {
      const row = outcome === undefined ? refusedByUs : rowOf(outcome);
      if (outcome?.kind === 'over-limit' && outcome.fault === finish.fault) return row;
      // An answer that is withheld, or has met a bug of ours, is no fault of its upstream.
      return billableStatuses.includes(row.status) ? refusedByUs : row;
    }
    default:
      return unreachable(finish);
  }
}

function producedIn(outcome: Outcome | undefined): number {
  return outcome !== undefined && 'producedTokens' in outcome ? (outcome.producedTokens ?? 0) : 0;
}

function readingOf(outcome: Outcome | undefined): Reading | null {
  return outcome !== undefined && 'reading' in outcome ? outcome.reading : null;
}

/** The status the caller saw: 200 once an answer had begun, however it ended. */
function httpStatusOf(finish: CallEnd): number | null {
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

function attemptEntry(
  record: AttemptRecord,
  shares: readonly Share[] | null,
  n: number,
  isCount: boolean,
  estimates: Estimates,
  asked: UsageTerms,
): AttemptEntry {
  const { target, outcome } = record;
  const { usage, source } = meterAttempt(outcome, estimates);
  return {
    n,
    channelId: target.channel.id,
    upstreamModel: target.upstreamModel,
    upstreamRequestId: record.upstreamRequestId,
    result: rowOf(outcome).result,
    detail: detailOf(record),
    httpStatus: record.httpStatus,
    ttftMs: record.ttftMs === null ? null : roundMs(record.ttftMs),
    durationMs: roundMs(record.durationMs),
    usage: source === 'none' ? null : usage,
    lane: record.lane,
    edits: record.edits,
    costNanoUsd:
      isCount || (source === 'none' && shares === null) ? zeroNanoUsd : costOf(record, usage, shares, asked),
    statedCostNanoUsd: statedCostOf(readingOf(outcome)),
  };
}

/** The upstream's charge for an attempt that used something; null where the operator has said none. */
function costOf(
  { target, outcome }: AttemptRecord,
  usage: Usage,
  shares: readonly Share[] | null,
  asked: UsageTerms,
): NanoUsd | null {
  if (target.cost === null && shares === null) return null;
  const terms = mergeTerms(readingOf(outcome)?.terms ?? noTerms, asked);
  if (shares !== null) return costOfShares(shares, target, usage, terms);
  return target.cost === null ? null : priceUsage(usage, target.cost, 1_000_000n, terms);
}

function statedCostOf(reading: Reading | null): NanoUsd | null {
  const stated = reading?.statedCostUsd;
  return stated == null ? null : readNanoUsd(stated);
}

/** An upstream charges for what it was asked, whether or not we let go of it while another one answers. */
function meterAttempt(outcome: Outcome, estimates: Estimates): Metered {
  const metered = meter(readingOf(outcome), estimates, producedIn(outcome));
  if (outcome.kind !== 'outrun' || metered.source !== 'none') return metered;
  return { usage: { ...noUsage, inputFresh: estimates.inputTokensEstimate }, source: 'estimated' };
}

/** Nothing is to be said of an answer. */
function detailOf({ target, outcome }: AttemptRecord): string | null {
  if (outcome.kind === 'answered') return null;
  const words = wordsOn(outcome, target.channel);
  return words === null ? null : beginningOf(words, 500);
}
