import { type Fault, type Result, succeed } from '@headgate/protocols';
import type { Caller } from '../../core/catalogue.ts';
import { daysOf, periodOfDays, readUsageQuery, type UsageQuery } from '../../core/usage-query.ts';
import type { UsageEntry, UsageReports } from '../../ports/usage-report.ts';
import { balanceView, entryView, totalsView } from './usage-view.ts';

interface Page {
  readonly data: readonly UsageEntry[];
  readonly nextCursor: string | null;
}

/** `GET /v1/usage`: what the calling key has used. It sees its own calls only. */
export async function answerUsage(
  search: string,
  caller: Caller,
  reports: UsageReports,
  nowMs: number,
): Promise<Result<object, Fault>> {
  const query = readUsageQuery(new URLSearchParams(search), nowMs);
  if (!query.ok) return query;
  return succeed(await usageAnswer(query.value, caller, reports, nowMs));
}

async function usageAnswer(
  query: UsageQuery,
  caller: Caller,
  reports: UsageReports,
  nowMs: number,
): Promise<object> {
  const { keyId, accountId, group } = caller;
  const period = periodOfDays(query.firstDay, query.lastDay, query.timeZone);
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs)
    .toZonedDateTimeISO(query.timeZone)
    .toPlainDate();
  const [todayTotals, total, daily, models, page, balance] = await Promise.all([
    reports.totals(keyId, periodOfDays(today, today, query.timeZone)),
    reports.totals(keyId, null),
    dailyUsage(query, keyId, period.toMs, reports),
    reports.byModel(keyId, period),
    readPage(query, keyId, reports),
    reports.balance(accountId),
  ]);
  return {
    object: 'usage',
    isValid: true,
    mode: balance.limited ? 'quota_limited' : 'unrestricted',
    status: 'active',
    planName: group.name,
    unit: 'USD',
    remaining: balance.limited ? balanceView(balance.balanceNanoUsd).balance : null,
    ...balanceView(balance.balanceNanoUsd),
    quota: null,
    rate_limits: [],
    expires_at: caller.expiresAtMs === null ? null : new Date(caller.expiresAtMs).toISOString(),
    usage: { today: totalsView(todayTotals), total: totalsView(total) },
    daily_usage: daily,
    model_stats: models.map(({ model, totals }) => ({ model, ...totalsView(totals) })),
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
