import {
  type Fault,
  fail,
  fault,
  type Result,
  succeed,
  totalInput,
  totalOutput,
  type Usage,
} from '@headgate/protocols';
import type { Caller } from '../catalogue/catalogue.ts';
import { formatNanoUsd, type NanoUsd, nanoUsd } from '../money/money.ts';
import type { HeaderList } from '../ports/data-plane.ts';
import type { UsageEntry, UsagePage, UsagePlace, UsageReports, UsageTotals } from '../ports/usage-report.ts';
import { isBilled, usageCsv, wholeMs } from './usage-csv.ts';
import { cursorOf, daysOf, periodOfDays, readUsageQuery, todayIn, type UsageQuery } from './usage-query.ts';

declare global {
  interface JSON {
    /** A stage 4 proposal that the compiler's library does not declare yet. */
    rawJSON(text: string): object;
  }
}

/** An answer to `GET /v1/usage`, whichever form was asked for. */
export interface UsageAnswer {
  readonly headers: HeaderList;
  readonly body: string;
}

/** A report that is being made: for whom, about which of the account's keys, when, and from what. */
interface Inquiry {
  readonly query: UsageQuery;
  readonly caller: Caller;
  readonly keyId: string;
  readonly keyName: string;
  readonly nowMs: number;
  readonly reports: UsageReports;
  /** Throws when the time for it is over. */
  readonly checkTime: () => void;
}

/** Calls of a table that are read at once: other callers' reports have their turn in between. */
const tablePage = 500;

/** `GET /v1/usage`: what the calling key has used, or another key of its account where that shows them. `checkTime` throws when the time for it is over. */
export async function answerUsage(
  search: string,
  caller: Caller,
  reports: UsageReports,
  nowMs: number,
  checkTime: () => void,
): Promise<Result<UsageAnswer, Fault>> {
  const query = readUsageQuery(search, nowMs);
  if (!query.ok) return query;
  const asOfMs = await reports.catchUp();
  const key = await findKey(query.value.key, caller, reports);
  if (!key.ok) return key;
  const { id: keyId, name: keyName } = key.value;
  const inquiry = { query: query.value, caller, keyId, keyName, nowMs, reports, checkTime };
  if (query.value.format === 'csv') return succeed(await tableAnswer(inquiry));
  const body = JSON.stringify(await usageAnswer(inquiry, asOfMs));
  return succeed({ headers: ['content-type', 'application/json'], body });
}

/** The key that is asked about. Whether there is such a key is told only to those that may read about it. */
async function findKey(label: string | null, { keyId, keyName, accountId }: Caller, reports: UsageReports) {
  const own = { id: keyId, name: keyName };
  if (label === null || label === keyId || label === keyName) return succeed(own);
  const sisters = await reports.sisters(accountId, label);
  const [only, another] = sisters ?? [];
  if (only !== undefined && another === undefined) return succeed(only);
  const message =
    sisters === null
      ? "'key' can only be the calling key's own name or id: its account does not show its keys to each other."
      : sisters.length === 0
        ? "'key' must be the name or id of a key of the same account."
        : `Several keys have this name; 'key' must be one of their ids: ${sisters.map(({ id }) => id).join(', ')}.`;
  return fail(fault('invalid_request', { message, param: 'key' }));
}

async function usageAnswer(inquiry: Inquiry, asOfMs: number | null): Promise<object> {
  const { query, caller, keyId, nowMs, reports, checkTime } = inquiry;
  const { accountId, group } = caller;
  const period = periodOfDays(query.firstDay, query.lastDay, query.timeZone);
  const today = todayIn(query.timeZone, nowMs);
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
  const page = await readPage(inquiry, query.limit, query.before);
  checkTime();
  const balance = await reports.balance(accountId);
  const { isShown, limited } = balance;
  const isLimited = isShown && limited;
  return {
    object: 'usage',
    // Only where the store is behind, which a caller should know who has just seen a call end.
    ...(asOfMs === null ? {} : { as_of: isoTime(asOfMs) }),
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
    expires_at: isoTime(caller.expiresAtMs),
    key: inquiry.keyName,
    timezone: query.timeZone,
    start_date: query.firstDay.toString(),
    end_date: query.lastDay.toString(),
    usage: { today: totalsView(todayTotals), total: totalsView(total) },
    daily_usage: daily,
    model_stats: models.models.map(({ model, totals }) => ({ model, ...totalsView(totals) })),
    model_stats_next_cursor: models.nextCursor,
    data: page.entries.map(entryView),
    has_more: page.next !== null,
    next_cursor: page.next === null ? null : cursorOf(page.next),
    searched_to: isoTime(page.searchedToMs),
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

async function readPage(
  { query, keyId, reports }: Inquiry,
  limit: number,
  before: UsagePlace | null,
): Promise<UsagePage> {
  if (query.traceId !== null) {
    const entry = await reports.find(keyId, query.traceId);
    return { entries: entry === null ? [] : [entry], next: null, searchedToMs: null };
  }
  const period = periodOfDays(query.firstDay, query.lastDay, query.timeZone);
  return reports.page(keyId, period, query.filter, limit, before);
}

/** The calls alone, as a table to download; where there are more than fit, a header has the cursor of the next one. */
async function tableAnswer(inquiry: Inquiry): Promise<UsageAnswer> {
  const { query, checkTime } = inquiry;
  const entries: UsageEntry[] = [];
  let next: UsagePlace | null = query.before;
  do {
    checkTime();
    const page: UsagePage = await readPage(inquiry, Math.min(tablePage, query.limit - entries.length), next);
    entries.push(...page.entries);
    next = page.next;
    // A page that ends early because few calls pass has looked at as many as a report may.
    if (page.searchedToMs !== null) break;
  } while (next !== null && entries.length < query.limit);
  const name = `usage-${query.firstDay.toString()}-${query.lastDay.toString()}.csv`;
  return {
    headers: [
      ...['content-type', 'text/csv; charset=utf-8; header=present'],
      ...['content-disposition', `attachment; filename="${name}"`],
      ...(next === null ? [] : ['x-headgate-next-cursor', cursorOf(next)]),
    ],
    body: usageCsv(entries),
  };
}

function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
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
    billed: isBilled(entry),
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
    time_to_first_content_ms: wholeMs(entry.ttftMs),
    duration_ms: wholeMs(entry.durationMs),
    client_request_id: entry.clientRequestId,
    tag: entry.tag,
    started_at: isoTime(entry.startedAtMs),
    finished_at: isoTime(entry.finishedAtMs),
  };
}
