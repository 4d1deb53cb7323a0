import { type Fault, type Result, succeed, totalInput, totalOutput, type Usage } from '@headgate/protocols';
import type { Caller } from '../catalogue/catalogue.ts';
import { formatNanoUsd, type NanoUsd, nanoUsd } from '../money/money.ts';
import {
  daysOf,
  periodOfDays,
  readUsageQuery,
  type UsageEntry,
  type UsageQuery,
  type UsageReports,
  type UsageTotals,
} from '../ports/usage-report.ts';

declare global {
  interface JSON {
    /** A stage 4 proposal that the compiler's library does not declare yet. */
    rawJSON(text: string): object;
  }
}

interface Page {
  readonly data: readonly UsageEntry[];
  readonly nextCursor: string | null;
}

/** `GET /v1/usage`: what the calling key has used. It sees its own calls only. `checkTime` throws when the time for it is over. */
export async function answerUsage(
  search: string,
  caller: Caller,
  reports: UsageReports,
  nowMs: number,
  checkTime: () => void,
): Promise<Result<object, Fault>> {
  const query = readUsageQuery(new URLSearchParams(search), nowMs);
  if (!query.ok) return query;
  return succeed(await usageAnswer(query.value, caller, reports, nowMs, checkTime));
}

async function usageAnswer(
  query: UsageQuery,
  caller: Caller,
  reports: UsageReports,
  nowMs: number,
  checkTime: () => void,
): Promise<object> {
  const { keyId, accountId, group } = caller;
  const period = periodOfDays(query.firstDay, query.lastDay, query.timeZone);
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs)
    .toZonedDateTimeISO(query.timeZone)
    .toPlainDate();
  const asOfMs = await reports.catchUp();
  // One part after the other: those of other callers have their turn in between.
  checkTime();
  const todayTotals = await reports.totals(keyId, periodOfDays(today, today, query.timeZone));
  checkTime();
  const total = await reports.totals(keyId, null);
  checkTime();
  const daily = await dailyUsage(query, keyId, period.toMs, reports);
  checkTime();
  const models = await reports.byModel(keyId, period, query.modelLimit, query.modelCursor);
  checkTime();
  const page = await readPage(query, keyId, reports);
  checkTime();
  const balance = await reports.balance(accountId);
  const { isShown, limited } = balance;
  const isLimited = isShown && limited;
  return {
    object: 'usage',
    // Only where the store is behind, which a caller should know who has just seen a call end.
    ...(asOfMs === null ? {} : { as_of: new Date(asOfMs).toISOString() }),
    isValid: true,
    mode: isLimited ? 'quota_limited' : 'unrestricted',
    status: 'active',
    planName: group.name,
    unit: 'USD',
    remaining: isLimited ? formatNanoUsd(balance.balanceNanoUsd) : null,
    // An account's balance tells what others have spent: a key is told what is its own, unless the account says otherwise.
    ...amount('balance', isShown ? balance.balanceNanoUsd : nanoUsd(-total.chargeNanoUsd)),
    balance_of: isShown ? 'account' : 'key',
    quota: null,
    rate_limits: [],
    expires_at: caller.expiresAtMs === null ? null : new Date(caller.expiresAtMs).toISOString(),
    usage: { today: totalsView(todayTotals), total: totalsView(total) },
    daily_usage: daily,
    model_stats: models.models.map(({ model, totals }) => ({ model, ...totalsView(totals) })),
    model_stats_next_cursor: models.nextCursor,
    data: page.data.map(entryView),
    has_more: page.nextCursor !== null,
    next_cursor: page.nextCursor,
  };
}

async function dailyUsage(
  query: UsageQuery,
  keyId: string,
  endMs: number,
  reports: UsageReports,
): Promise<object[]> {
  const days = daysOf(query);
  const series = await reports.series(keyId, [...days.map(({ fromMs }) => fromMs), endMs]);
  const byStart = new Map(series.map(({ fromMs, totals }) => [fromMs, totals]));
  return days.flatMap(({ date, fromMs }) => {
    const totals = byStart.get(fromMs);
    return totals === undefined ? [] : [{ date, ...totalsView(totals) }];
  });
}

async function readPage(query: UsageQuery, keyId: string, reports: UsageReports): Promise<Page> {
  if (query.traceId !== null) {
    const entry = await reports.find(keyId, query.traceId);
    return { data: entry === null ? [] : [entry], nextCursor: null };
  }
  const period = periodOfDays(query.firstDay, query.lastDay, query.timeZone);
  const { entries, nextCursor } = await reports.page(keyId, period, query.limit, query.cursor);
  return { data: entries, nextCursor };
}

/** An amount both ways: a decimal string for people, an integer for programs, exact beyond what a float holds. */
function amount(name: string, nanoUsd: NanoUsd): Record<string, unknown> {
  return { [name]: formatNanoUsd(nanoUsd), [`${name}_nano_usd`]: JSON.rawJSON(nanoUsd.toString()) };
}

function usageView(usage: Usage) {
  return {
    input_tokens: totalInput(usage),
    output_tokens: totalOutput(usage) - usage.images,
    input_fresh_tokens: usage.inputFresh,
    input_cache_read_tokens: usage.inputCacheRead,
    input_cache_write_5m_tokens: usage.inputCacheWrite5m,
    input_cache_write_1h_tokens: usage.inputCacheWrite1h,
    input_audio_tokens: usage.inputAudio,
    input_image_tokens: usage.inputImage,
    output_reasoning_tokens: usage.outputReasoning,
    output_audio_tokens: usage.outputAudio,
    output_image_tokens: usage.outputImage,
    images: usage.images,
    input_cache_read_audio_tokens: usage.inputCacheReadAudio,
    citation_tokens: usage.citation,
    web_searches: usage.webSearches,
    file_searches: usage.fileSearches,
    code_sessions: usage.codeSessions,
    groundings: usage.groundings,
    pages: usage.pages,
  };
}

function totalsView(totals: UsageTotals) {
  return {
    calls: totals.calls,
    billed_calls: totals.billedCalls,
    ...usageView(totals.usage),
    ...amount('charge', totals.chargeNanoUsd),
  };
}

/** A call as its owner sees it; `billed` and `unbilled_reason` always tell why it cost what it cost. */
function entryView(entry: UsageEntry) {
  return {
    trace_id: entry.traceId,
    status: entry.status,
    billed: entry.unbilledReason === null && entry.status !== 'open',
    unbilled_reason: entry.unbilledReason,
    surface: entry.surface,
    model: entry.modelRequested,
    model_served: entry.modelServed,
    stream: entry.stream,
    usage: usageView(entry.usage),
    usage_source: entry.usageSource,
    ...amount('charge', entry.chargeNanoUsd),
    http_status: entry.httpStatus,
    error_code: entry.errorCode,
    finish_reason: entry.finishReason,
    losses: entry.losses,
    attempts: entry.attempts,
    time_to_first_content_ms: entry.ttftMs === null ? null : Math.round(entry.ttftMs),
    duration_ms: entry.durationMs === null ? null : Math.round(entry.durationMs),
    client_request_id: entry.clientRequestId,
    started_at: new Date(entry.startedAtMs).toISOString(),
    finished_at: entry.finishedAtMs === null ? null : new Date(entry.finishedAtMs).toISOString(),
  };
}
