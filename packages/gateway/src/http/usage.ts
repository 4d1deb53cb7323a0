import { type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';
import type { Caller } from '../catalogue/catalogue.ts';
import { nanoUsd } from '../money/money.ts';
import type { HeaderList } from '../ports/data-plane.ts';
import type { Holds } from '../ports/holds.ts';
import type { UsageEntry, UsagePage, UsagePlace, UsageReports } from '../ports/usage-report.ts';
import { usageCsv } from './usage-csv.ts';
import { limitsView } from './usage-limits.ts';
import { cursorOf, daysOf, periodOfDays, readUsageQuery, todayIn, type UsageQuery } from './usage-query.ts';
import { amount, entryView, isoTime, totalsView } from './usage-views.ts';

/** An answer to `GET /v1/usage`, whichever form was asked for. */
export interface UsageAnswer {
  readonly headers: HeaderList;
  readonly body: string;
}

/** All that answers are made from. */
export interface UsageSources {
  readonly reports: UsageReports;
  readonly holds: Pick<Holds, 'standings'>;
}

/** A report that is being made: for whom, about which of the account's keys, when, and from what. */
interface Inquiry {
  readonly query: UsageQuery;
  readonly caller: Caller;
  readonly keyId: string;
  readonly keyName: string;
  readonly nowMs: number;
  readonly reports: UsageReports;
  readonly holds: UsageSources['holds'];
  /** Throws when the time for it is over. */
  readonly checkTime: () => void;
}

/** Calls of a table that are read at once: other callers' reports have their turn in between. */
const tablePage = 500;

/** `GET /v1/usage`: what the calling key has used, or another key of its account where that shows them. `checkTime` throws when the time for it is over. */
export async function answerUsage(
  search: string,
  caller: Caller,
  { reports, holds }: UsageSources,
  nowMs: number,
  checkTime: () => void,
): Promise<Result<UsageAnswer, Fault>> {
  const query = readUsageQuery(search, nowMs);
  if (!query.ok) return query;
  const asOfMs = await reports.catchUp();
  const key = await findKey(query.value.key, caller, reports);
  if (!key.ok) return key;
  const { id: keyId, name: keyName } = key.value;
  const inquiry = { query: query.value, caller, keyId, keyName, nowMs, reports, holds, checkTime };
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
  const { query, caller, keyId, nowMs, reports, holds, checkTime } = inquiry;
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
  const { balanceNanoUsd, isShown } = await reports.balance(accountId);
  checkTime();
  const { mode, status, ...limits } = limitsView(caller.limits, await holds.standings(caller.limits));
  return {
    object: 'usage',
    // Only where the store is behind, which a caller should know who has just seen a call end.
    ...(asOfMs === null ? {} : { as_of: isoTime(asOfMs) }),
    isValid: true,
    mode,
    status,
    planName: group.name,
    unit: 'USD',
    // An account's balance tells what others have spent: a key is told what is its own, unless the account says otherwise.
    ...amount('balance', isShown ? balanceNanoUsd : nanoUsd(-total.chargeNanoUsd)),
    balance_of: isShown ? 'account' : 'key',
    ...limits,
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
