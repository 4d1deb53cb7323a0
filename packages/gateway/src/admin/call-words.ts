import { noTerms, totalInput, totalOutput, type Usage } from '@headgate/protocols';
import { formatDecimal, formatNanoUsd, nanoUsd } from '../money/money.ts';
import type { PricedPart, PriceVersion } from '../money/price.ts';
import { type PriceTerm, priceTerms } from '../money/price-formula.ts';
import type { StoredPrice } from '../ports/configuration-store.ts';
import type { AttemptEntry } from '../ports/ledger.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { pastRoute } from './past-route.ts';

/** Whoever a call is shown to. Channels and what they cost are for operators alone. */
export interface CallReader {
  readonly isOperator: boolean;
  /** A key's name; its id where it has none any more. */
  nameOf(keyId: string): string;
}

/** A call as a line of the ledger, as programs read it. */
export function callLine(record: LedgerRecord, reader: CallReader) {
  const { usage } = record;
  return {
    traceId: record.traceId,
    startedAt: isoOf(record.startedAtMs),
    finishedAt: record.finishedAtMs === null ? null : isoOf(record.finishedAtMs),
    status: record.status,
    unbilledReason: record.unbilledReason,
    accountId: record.accountId,
    keyId: record.keyId,
    keyName: reader.nameOf(record.keyId),
    groupId: record.groupId,
    surface: record.surface,
    modelRequested: record.modelRequested,
    modelServed: record.modelServed,
    stream: record.stream,
    inputTokens: totalInput(usage),
    cachedTokens: usage.inputCacheRead + usage.inputCacheReadAudio,
    outputTokens: totalOutput(usage),
    charge: formatNanoUsd(record.chargeNanoUsd),
    ttftMs: record.ttftMs,
    durationMs: record.finishedAtMs === null ? null : record.durationMs,
    attempts: record.attempts.length,
    httpStatus: record.httpStatus,
    errorCode: record.errorCode,
    finishReason: record.finishReason,
    tag: record.tag,
    losses: record.losses,
    ...(reader.isOperator ? { channelId: record.channelId, cost: costOf(record) } : {}),
  };
}

export type CallLine = ReturnType<typeof callLine>;

/** A call with all that is known of it. */
export function callStory(record: LedgerRecord, prices: readonly StoredPrice[], reader: CallReader) {
  const { isOperator } = reader;
  const cost = nanoCostOf(record);
  return {
    ...callLine(record, reader),
    clientRequestId: record.clientRequestId,
    parentTrace: record.parentTrace,
    userAgent: record.userAgent,
    finishReasonRaw: record.finishReasonRaw,
    usageSource: record.usageSource,
    usage: partsOf(record.usage),
    priceVersion: record.priceVersion,
    terms: Object.fromEntries(
      Object.entries(record.terms ?? {}).filter(([, term]) => term !== null),
    ) as Record<string, string | number>,
    formula: formulaOf(record, prices),
    overheadMs: record.overheadUs / 1000,
    tries: triesOf(record, isOperator),
    ...(isOperator
      ? {
          margin: cost === null ? null : formatNanoUsd(nanoUsd(record.chargeNanoUsd - cost)),
          plans: plansOf(record),
        }
      : {}),
  };
}

function plansOf(record: LedgerRecord) {
  return pastRoute(record).plans.map(
    ({ attemptsBefore, choice, because, candidateCount, candidates, exclusions }) => ({
      ...{ attemptsBefore, choice, because, candidateCount },
      candidates: candidates.map(({ expectedCostPicoUsd, ...candidate }) => ({
        ...candidate,
        expectedCost: formatDecimal(BigInt(Math.round(expectedCostPicoUsd)), 12),
      })),
      exclusions,
    }),
  );
}

/** The parts of usage that there are any units of. */
function partsOf(usage: Usage) {
  return Object.entries(usage)
    .filter(([, units]) => units !== 0)
    .map(([part, units]) => ({ part, units: Number(units) }));
}

/**
 * When each attempt was under way. The ledger has how long each took, not when it began: the first when we had done our part, the last by the
 * time to first content of the whole call, and those between as soon as the one before was over.
 */
function triesOf(record: LedgerRecord, isOperator: boolean) {
  const { attempts, ttftMs, durationMs, overheadUs } = record;
  let before = overheadUs / 1000;
  return attempts.map((attempt, at) => {
    const isLast = at === attempts.length - 1;
    const isTimed = isLast && ttftMs !== null && attempt.ttftMs !== null;
    const counted = isTimed ? Math.max(0, ttftMs - attempt.ttftMs) : before;
    const startMs = Math.min(counted, Math.max(0, durationMs - attempt.durationMs));
    const endMs = startMs + attempt.durationMs;
    before = endMs;
    return {
      ...{ n: attempt.n, result: attempt.result, httpStatus: attempt.httpStatus, startMs, endMs },
      firstContentMs: attempt.ttftMs === null ? null : startMs + attempt.ttftMs,
      isStartKnown: at === 0 || isTimed,
      ...(isOperator ? privateOf(attempt) : {}),
    };
  });
}

function privateOf(attempt: AttemptEntry) {
  const { channelId, upstreamModel, upstreamRequestId, detail, lane, edits, costNanoUsd, statedCostNanoUsd } =
    attempt;
  return {
    ...{ channelId, upstreamModel, upstreamRequestId, detail, lane, edits },
    usage: attempt.usage === null ? null : partsOf(attempt.usage),
    cost: costNanoUsd === null ? null : formatNanoUsd(costNanoUsd),
    statedCost: statedCostNanoUsd === null ? null : formatNanoUsd(statedCostNanoUsd),
  };
}

/** Null where nobody knows what one of the attempts cost. */
function nanoCostOf({ attempts }: LedgerRecord): bigint | null {
  let cost = 0n;
  for (const { costNanoUsd } of attempts) {
    if (costNanoUsd === null) return null;
    cost += costNanoUsd;
  }
  return cost;
}

function costOf(record: LedgerRecord): string | null {
  const cost = nanoCostOf(record);
  return cost === null ? null : formatNanoUsd(nanoUsd(cost));
}

/** The charge as it can be worked out by hand: products, their sum, and what became of it. */
function formulaOf(record: LedgerRecord, prices: readonly StoredPrice[]) {
  const terms = chargeTerms(record, prices);
  if (terms === null) return null;
  const sum = terms.reduce((total, { units, price, factorPpm }) => total + units * price * factorPpm, 0n);
  return {
    lines: terms.map(({ what, units, price, factorPpm, aboveInputTokens }) => ({
      ...{ part: what, units: String(units), price: formatDecimal(price, 12), aboveInputTokens },
      factor: formatDecimal(factorPpm, 6),
      amount: formatDecimal(units * price * factorPpm, 18),
    })),
    sum: formatDecimal(sum, 18),
    multiplier: formatDecimal(record.multiplierPpm, 6),
    charge: formatNanoUsd(record.chargeNanoUsd),
  };
}

/** Null where a price of the call is not at hand. */
export function chargeTerms(call: LedgerRecord, prices: readonly StoredPrice[]): readonly PriceTerm[] | null {
  const version = versionOf(call.priceVersion, prices);
  const parts: PricedPart[] = [];
  for (const { priceVersion, usage } of call.parts ?? []) {
    const price = versionOf(priceVersion, prices);
    if (price === null) return null;
    parts.push({ price, usage });
  }
  if (version === null) return null;
  return priceTerms(call.usage, version, call.terms ?? noTerms, call.parts === null ? null : parts);
}

function versionOf(id: string | null, prices: readonly StoredPrice[]): PriceVersion | null {
  const found = prices.find(({ version }) => version === id);
  return found === undefined || found.tiers.length === 0 ? null : { ...found, id: found.version };
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
