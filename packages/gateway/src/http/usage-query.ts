import { beginningOf, type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';
import { readTimeZone } from '../catalogue/time-zone.ts';
import type { CallStatus } from '../ports/ledger.ts';
import type { UsageFilter, UsagePeriod, UsagePlace } from '../ports/usage-report.ts';

/** A request to `GET /v1/usage`. */
export interface UsageQuery {
  /** IANA name. */
  readonly timeZone: string;
  /** First and last day, inclusive. */
  readonly firstDay: Temporal.PlainDate;
  readonly lastDay: Temporal.PlainDate;
  readonly traceId: string | null;
  /** The name or id of the key that is asked about; null for the caller's own. */
  readonly key: string | null;
  readonly filter: UsageFilter;
  readonly format: 'json' | 'csv';
  readonly limit: number;
  readonly before: UsagePlace | null;
  /** The same of the sums by model. */
  readonly modelLimit: number;
  readonly modelCursor: string | null;
}

const daysMax = 90;
const daysDefault = 30;
/** Calls of one answer: a table is for programs that take all there is. */
const limits = { json: { max: 200, usual: 50 }, csv: { max: 5_000, usual: 500 } } as const;
const modelLimitMax = 1000;
const modelLimitDefault = 100;
const nameMax = 200;
const statuses = [
  'open',
  'complete',
  'failed',
  'timed_out',
  'caller_gone',
  'limit_reached',
  'interrupted',
] as const satisfies readonly CallStatus[];

const knownNames = [
  'start_date',
  'end_date',
  'days',
  'timezone',
  'key',
  'model',
  'status',
  'billed',
  'trace_id',
  'format',
  'limit',
  'cursor',
  'model_stats_limit',
  'model_stats_cursor',
] as const;
type ParamName = (typeof knownNames)[number];

/** The parameters as they came, and the first thing that is wrong with them. What is refused reads as if it were not there. */
class Params {
  readonly #values = new Map<ParamName, string>();
  refusal: Fault | null = null;

  constructor(search: string) {
    for (const [name, value] of new URLSearchParams(search)) {
      const known = knownNames.find((one) => one === name);
      if (known === undefined) this.#refuseUnknown(beginningOf(name, 60));
      else if (this.#values.has(known)) this.refuse(known, `'${known}' is given more than once.`);
      // Bytes that are no UTF-8 have become this sign.
      else if (value.includes('\ufffd'))
        this.refuse(known, `'${known}' must be text in UTF-8, percent-encoded.`);
      else this.#values.set(known, value);
    }
  }

  get(name: ParamName): string | undefined {
    return this.#values.get(name);
  }

  refuse(param: string, message: string): undefined {
    this.refusal ??= fault('invalid_request', { message, param });
  }

  #refuseUnknown(name: string): void {
    this.refuse(name, `Unknown query parameter '${name}'; known are ${knownNames.join(', ')}.`);
  }
}

/** Reads and checks the query; a malformed value is a fault that names it. */
export function readUsageQuery(search: string, nowMs: number): Result<UsageQuery, Fault> {
  const params = new Params(search);
  const format = readWord(params, 'format', ['json', 'csv']) ?? 'json';
  const timeZone = readZone(params) ?? 'UTC';
  const query = {
    timeZone,
    ...readRange(params, timeZone, nowMs),
    traceId: readTraceId(params) ?? null,
    key: readName(params, 'key', "a key's name or id") ?? null,
    filter: readFilter(params),
    format,
    limit: readInteger(params, 'limit', limits[format].max) ?? limits[format].usual,
    before: readCursor(params) ?? null,
    modelLimit: readInteger(params, 'model_stats_limit', modelLimitMax) ?? modelLimitDefault,
    modelCursor:
      readName(params, 'model_stats_cursor', 'the `model_stats_next_cursor` of an earlier answer') ?? null,
  };
  return params.refusal === null ? succeed(query) : fail(params.refusal);
}

function readWord<Word extends string>(
  params: Params,
  name: ParamName,
  words: readonly Word[],
): Word | undefined {
  const text = params.get(name);
  if (text === undefined) return undefined;
  const word = words.find((one) => one === text);
  return word ?? params.refuse(name, `'${name}' must be ${words.join(' or ')}.`);
}

function readInteger(params: Params, name: ParamName, max: number): number | undefined {
  const text = params.get(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  return params.refuse(name, `'${name}' must be a whole number from 1 to ${max}.`);
}

function readName(params: Params, name: ParamName, what: string): string | undefined {
  const text = params.get(name);
  if (text === undefined || (text !== '' && text.length <= nameMax)) return text;
  return params.refuse(name, `'${name}' must be ${what}, ${nameMax} characters at the most.`);
}

function readFilter(params: Params): UsageFilter {
  const model = readName(params, 'model', "a model's id");
  const status = readWord(params, 'status', statuses);
  const billed = readWord(params, 'billed', ['true', 'false']);
  return {
    ...(model === undefined ? {} : { model }),
    ...(status === undefined ? {} : { status }),
    ...(billed === undefined ? {} : { billed: billed === 'true' }),
  };
}

/** Dashes are accepted, as a UUID is often pasted with them. */
function readTraceId(params: Params): string | undefined {
  const digits = params.get('trace_id')?.replaceAll('-', '').toLowerCase();
  if (digits === undefined || /^[0-9a-f]{32}$/.test(digits)) return digits;
  return params.refuse('trace_id', "'trace_id' must be 32 hexadecimal digits.");
}

const timeDigits = 12;

/** A place as callers hand it back: its moment, and behind it the trace id where there is one. */
export function cursorOf({ atMs, traceId }: UsagePlace): string {
  return atMs.toString(16).padStart(timeDigits, '0') + traceId;
}

function readCursor(params: Params): UsagePlace | undefined {
  const text = params.get('cursor');
  if (text === undefined) return undefined;
  if (!/^[0-9a-f]{12}([0-9a-f]{32})?$/.test(text))
    return params.refuse('cursor', "'cursor' must be the `next_cursor` of an earlier answer.");
  return { atMs: Number.parseInt(text.slice(0, timeDigits), 16), traceId: text.slice(timeDigits) };
}

function readZone(params: Params): string | undefined {
  const zone = readTimeZone(params.get('timezone') ?? 'UTC');
  return zone ?? params.refuse('timezone', "'timezone' must be an IANA name such as Europe/Berlin.");
}

type DayRange = Pick<UsageQuery, 'firstDay' | 'lastDay'>;

/** Two of beginning, end and length; one that is missing is today, or thirty days. */
function readRange(params: Params, timeZone: string, nowMs: number): DayRange {
  const [start, end] = [readDate(params, 'start_date'), readDate(params, 'end_date')];
  const days = readInteger(params, 'days', daysMax);
  if (start !== undefined && end !== undefined && days !== undefined)
    params.refuse(
      'days',
      "'days' cannot stand beside both 'start_date' and 'end_date'; leave one of the three out.",
    );
  const today = todayIn(timeZone, nowMs);
  if (start === undefined) {
    const lastDay = end ?? today;
    return { firstDay: lastDay.subtract({ days: (days ?? daysDefault) - 1 }), lastDay };
  }
  const lastDay = days === undefined ? (end ?? laterOf(start, today)) : start.add({ days: days - 1 });
  if (Temporal.PlainDate.compare(start, lastDay) > 0)
    params.refuse('end_date', "'end_date' must not be before 'start_date'.");
  else if (start.until(lastDay).days >= daysMax)
    params.refuse(
      'start_date',
      `At most ${daysMax} days can be asked for at once; move 'start_date' or 'end_date'.`,
    );
  return { firstDay: start, lastDay };
}

function readDate(params: Params, name: 'start_date' | 'end_date'): Temporal.PlainDate | undefined {
  const text = params.get(name);
  if (text === undefined) return undefined;
  try {
    // Years beyond these have no days whose calls could be told from those of others.
    if (/^[12]\d{3}-\d{2}-\d{2}$/.test(text)) return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    // There is no such day.
  }
  return params.refuse(
    name,
    `'${name}' must be a date of the form YYYY-MM-DD, from 1000-01-01 to 2999-12-31.`,
  );
}

function laterOf(one: Temporal.PlainDate, other: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(one, other) > 0 ? one : other;
}

/** The day that it is there. */
export function todayIn(timeZone: string, nowMs: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** The days as a span of time in their zone; each is 23 or 25 hours long when the clocks change. */
export function periodOfDays(
  firstDay: Temporal.PlainDate,
  lastDay: Temporal.PlainDate,
  timeZone: string,
): UsagePeriod {
  return { fromMs: startOfDayMs(firstDay, timeZone), toMs: startOfDayMs(lastDay.add({ days: 1 }), timeZone) };
}

/** Every day of the range, with the moment it starts. A day that a zone left out, to be on the other side of the date line, is none. */
export function daysOf({
  firstDay,
  lastDay,
  timeZone,
}: DayRange & Pick<UsageQuery, 'timeZone'>): readonly { readonly date: string; readonly fromMs: number }[] {
  const days: { date: string; fromMs: number }[] = [];
  for (let day = firstDay; Temporal.PlainDate.compare(day, lastDay) <= 0; day = day.add({ days: 1 })) {
    const { fromMs, toMs } = periodOfDays(day, day, timeZone);
    if (toMs > fromMs) days.push({ date: day.toString(), fromMs });
  }
  return days;
}

function startOfDayMs(day: Temporal.PlainDate, timeZone: string): number {
  return day.toZonedDateTime(timeZone).epochMilliseconds;
}
