import { beginningOf, type Fault, fail, fault, type Result, succeed, type Usage } from '@headgate/protocols';
import { readTimeZone } from '../catalogue/time-zone.ts';
import type { NanoUsd } from '../money/money.ts';
import type { CallStatus, UnbilledReason, UsageSource } from './ledger.ts';

/** Sums over calls. */
export interface UsageTotals {
  readonly calls: number;
  readonly billedCalls: number;
  readonly usage: Usage;
  readonly chargeNanoUsd: NanoUsd;
}

/** A ledger entry as its owner may see it: no channel, no cost of ours. */
export interface UsageEntry {
  readonly traceId: string;
  readonly status: CallStatus;
  readonly unbilledReason: UnbilledReason | null;
  readonly surface: string;
  readonly modelRequested: string;
  readonly modelServed: string | null;
  readonly stream: boolean;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly chargeNanoUsd: NanoUsd;
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly finishReason: string | null;
  readonly losses: readonly string[];
  readonly ttftMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number;
  readonly clientRequestId: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
}

export interface UsagePage {
  readonly entries: readonly UsageEntry[];
  /** Trace id to continue after, or null at the end. */
  readonly nextCursor: string | null;
}

export interface ModelPage {
  /** In the order of their names. What was asked for models that the key cannot call is summed up under one name. */
  readonly models: readonly { readonly model: string; readonly totals: UsageTotals }[];
  /** Name to continue after, or null at the end. */
  readonly nextCursor: string | null;
}

/** Reads what a key has used. Every method sees that key's calls only. */
export interface UsageReports {
  /** Waits until everything that is durable now can be seen, within bounds. Null, or the moment up to which everything can. */
  catchUp(): Promise<number | null>;
  totals(keyId: string, period: UsagePeriod | null): Promise<UsageTotals>;
  /** One row per slot that has calls. `bounds` are the ascending starts of the slots, and the end of the last one. */
  series(
    keyId: string,
    bounds: readonly number[],
  ): Promise<readonly { readonly fromMs: number; readonly totals: UsageTotals }[]>;
  byModel(keyId: string, period: UsagePeriod, limit: number, cursor: string | null): Promise<ModelPage>;
  /** Newest first. */
  page(keyId: string, period: UsagePeriod, limit: number, cursor: string | null): Promise<UsagePage>;
  find(keyId: string, traceId: string): Promise<UsageEntry | null>;
  /** Balance of the account, whether that has a limit, and whether its keys may see it. */
  balance(
    accountId: string,
  ): Promise<{ readonly balanceNanoUsd: NanoUsd; readonly limited: boolean; readonly isShown: boolean }>;
}

/** A span of time: from inclusive, to exclusive, milliseconds since the epoch. */
export interface UsagePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A request to `GET /v1/usage`. */
export interface UsageQuery {
  /** IANA name. */
  readonly timeZone: string;
  /** First and last day, inclusive. */
  readonly firstDay: Temporal.PlainDate;
  readonly lastDay: Temporal.PlainDate;
  readonly traceId: string | null;
  readonly limit: number;
  readonly cursor: string | null;
  /** The same of the sums by model. */
  readonly modelLimit: number;
  readonly modelCursor: string | null;
}

const daysMax = 90;
const daysDefault = 30;
const limitMax = 200;
const limitDefault = 50;
const modelLimitMax = 1000;
const modelLimitDefault = 100;
const knownNames: ReadonlySet<string> = new Set([
  'start_date',
  'end_date',
  'timezone',
  'days',
  'trace_id',
  'limit',
  'cursor',
  'model_stats_limit',
  'model_stats_cursor',
]);

/** Reads and checks the query; a malformed value is a fault that names it. */
export function readUsageQuery(query: URLSearchParams, nowMs: number): Result<UsageQuery, Fault> {
  for (const name of query.keys()) {
    if (!knownNames.has(name)) {
      return invalid(
        name,
        `Unknown query parameter '${beginningOf(name, 60)}'; known are ${[...knownNames].join(', ')}.`,
      );
    }
    if (query.getAll(name).length > 1) return invalid(name, `'${name}' is given more than once.`);
  }
  const timeZone = readTimeZone(query.get('timezone') ?? 'UTC');
  if (timeZone === null) return invalid('timezone', "'timezone' must be an IANA name such as Europe/Berlin.");
  const days = readInteger(query.get('days'), 1, daysMax, daysDefault);
  if (days === null) return invalid('days', `'days' must be a whole number from 1 to ${daysMax}.`);
  const limit = readInteger(query.get('limit'), 1, limitMax, limitDefault);
  if (limit === null) return invalid('limit', `'limit' must be a whole number from 1 to ${limitMax}.`);
  const traceId = readTraceId(query.get('trace_id'));
  if (traceId === undefined) return invalid('trace_id', "'trace_id' must be 32 hexadecimal digits.");
  const cursor = readTraceId(query.get('cursor'));
  if (cursor === undefined)
    return invalid('cursor', "'cursor' must be the `next_cursor` of an earlier answer.");
  const modelLimit = readInteger(query.get('model_stats_limit'), 1, modelLimitMax, modelLimitDefault);
  if (modelLimit === null)
    return invalid(
      'model_stats_limit',
      `'model_stats_limit' must be a whole number from 1 to ${modelLimitMax}.`,
    );
  const modelCursor = query.get('model_stats_cursor');
  if (modelCursor !== null && modelCursor.length > 200)
    return invalid(
      'model_stats_cursor',
      "'model_stats_cursor' must be the `model_stats_next_cursor` of an earlier answer.",
    );
  const range = readRange(query, timeZone, days, nowMs);
  return range.ok
    ? succeed({ timeZone, traceId, limit, cursor, modelLimit, modelCursor, ...range.value })
    : range;
}

type DayRange = Pick<UsageQuery, 'firstDay' | 'lastDay'>;

function readRange(
  query: URLSearchParams,
  timeZone: string,
  days: number,
  nowMs: number,
): Result<DayRange, Fault> {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate();
  const start = readDate(query.get('start_date'));
  if (start === undefined)
    return invalid('start_date', "'start_date' must be a date of the form YYYY-MM-DD.");
  const end = readDate(query.get('end_date'));
  if (end === undefined) return invalid('end_date', "'end_date' must be a date of the form YYYY-MM-DD.");
  const lastDay =
    end ?? (start === null || Temporal.PlainDate.compare(start, today) > 0 ? (start ?? today) : today);
  const firstDay = start ?? lastDay.subtract({ days: days - 1 });
  if (Temporal.PlainDate.compare(firstDay, lastDay) > 0) {
    return invalid('end_date', "'end_date' must not be before 'start_date'.");
  }
  if (firstDay.until(lastDay).days >= daysMax)
    return invalid('start_date', `At most ${daysMax} days can be asked for at once.`);
  return succeed({ firstDay, lastDay });
}

function invalid(param: string, message: string): Result<never, Fault> {
  return fail(fault('invalid_request', { message, param }));
}

/** Null when it is not a whole number within the bounds. */
function readInteger(text: string | null, min: number, max: number, absent: number): number | null {
  if (text === null) return absent;
  if (!/^\d{1,6}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}

/** Null when absent, undefined when malformed. */
function readDate(text: string | null): Temporal.PlainDate | null | undefined {
  if (text === null) return null;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

/** Null when absent, undefined when malformed. Dashes are accepted, as a UUID is often pasted with them. */
function readTraceId(text: string | null): string | null | undefined {
  if (text === null) return null;
  const digits = text.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits) ? digits : undefined;
}

/** The day as a span of time in its zone; 23 or 25 hours long when the clocks change. */
export function periodOfDays(
  firstDay: Temporal.PlainDate,
  lastDay: Temporal.PlainDate,
  timeZone: string,
): UsagePeriod {
  return { fromMs: startOfDayMs(firstDay, timeZone), toMs: startOfDayMs(lastDay.add({ days: 1 }), timeZone) };
}

/** Every day of the range, with the moment it starts. */
export function daysOf({
  firstDay,
  lastDay,
  timeZone,
}: UsageQuery): readonly { readonly date: string; readonly fromMs: number }[] {
  const days: { date: string; fromMs: number }[] = [];
  for (let day = firstDay; Temporal.PlainDate.compare(day, lastDay) <= 0; day = day.add({ days: 1 })) {
    days.push({ date: day.toString(), fromMs: startOfDayMs(day, timeZone) });
  }
  return days;
}

function startOfDayMs(day: Temporal.PlainDate, timeZone: string): number {
  return day.toZonedDateTime(timeZone).epochMilliseconds;
}
