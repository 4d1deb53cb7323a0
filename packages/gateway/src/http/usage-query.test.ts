import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJournalSite } from '../store/contract/journal-site.ts';
import { sampleEntry, settle, traceId } from '../store/contract/samples.ts';
import { SqlUsageReports } from '../store/reports.ts';
import { openKysely } from '../store/sqlite/kysely.ts';
import { cursorOf, daysOf, readUsageQuery } from './usage-query.ts';

/** Noon of a Monday in UTC; it is Tuesday already where the day begins first. */
const nowMs = Date.UTC(2026, 10, 23, 12);

function read(search: string) {
  const query = readUsageQuery(search, nowMs);
  if (!query.ok) throw new Error(query.error.message);
  return query.value;
}

function refusalOf(search: string) {
  const query = readUsageQuery(search, nowMs);
  return query.ok ? null : { param: query.error.param, message: query.error.message };
}

const rangeOf = (search: string) => [read(search).firstDay.toString(), read(search).lastDay.toString()];

test.each([
  ['', ['2026-10-25', '2026-11-23']],
  ['days=1', ['2026-11-23', '2026-11-23']],
  ['days=1&timezone=Pacific/Kiritimati', ['2026-11-24', '2026-11-24']],
  ['days=7&end_date=2026-03-01', ['2026-02-23', '2026-03-01']],
  ['days=7&start_date=2026-02-23', ['2026-02-23', '2026-03-01']],
  ['start_date=2026-11-20', ['2026-11-20', '2026-11-23']],
  ['start_date=2026-12-20', ['2026-12-20', '2026-12-20']],
  ['start_date=2024-02-29&end_date=2024-05-28', ['2024-02-29', '2024-05-28']],
])('the days of "%s"', (search, days) => {
  expect(rangeOf(search)).toEqual(days);
});

test.each([
  ['start_date=2024-02-29&end_date=2024-05-29', 'start_date', /90 days/],
  ['start_date=2026-03-02&end_date=2026-03-01', 'end_date', /not be before/],
  ['start_date=2026-03-01&end_date=2026-03-02&days=2', 'days', /leave one/],
  ['start_date=2026-02-29', 'start_date', /YYYY-MM-DD/],
  ['start_date=0000-01-01', 'start_date', /YYYY-MM-DD/],
  ['end_date=2026-11-23T00:00', 'end_date', /YYYY-MM-DD/],
  ['days=', 'days', /1 to 90/],
  ['days=7.5', 'days', /1 to 90/],
  ['timezone=', 'timezone', /IANA/],
  ['timezone=%2B05:30', 'timezone', /IANA/],
  ['timezone=Mars/Olympus', 'timezone', /IANA/],
  ['billed=yes', 'billed', /true or false/],
  ['billed=', 'billed', /true or false/],
  ['status=done', 'status', /complete or failed/],
  ['model=', 'model', /200 characters/],
  [`model=${'x'.repeat(201)}`, 'model', /200 characters/],
  ['model=%ff', 'model', /UTF-8/],
  ['key=', 'key', /name or id/],
  ['format=xml', 'format', /json or csv/],
  ['limit=201', 'limit', /1 to 200/],
  ['limit=5001&format=csv', 'limit', /1 to 5000/],
  ['cursor=12', 'cursor', /next_cursor/],
  [`cursor=${'g'.repeat(44)}`, 'cursor', /next_cursor/],
  [`trace_id=${'0'.repeat(31)}`, 'trace_id', /32/],
  ['model_stats_limit=0', 'model_stats_limit', /1 to 1000/],
  ['model_stats_cursor=', 'model_stats_cursor', /next_cursor/],
  ['limit=1&limit=1', 'limit', /more than once/],
  ['Model=a', 'Model', /Unknown query parameter 'Model'; known are start_date/],
])('"%s" is refused by name, with the fix', (search, param, message) => {
  expect(refusalOf(search)).toEqual({ param, message: expect.stringMatching(message) as unknown });
});

test('any text is a query or a refusal', () => {
  const name = fc.constantFrom(
    'start_date',
    'end_date',
    'days',
    'timezone',
    'cursor',
    'limit',
    'status',
    'key',
    'nonsense',
  );
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('2026-03-29', '9', 'Europe/Berlin', '-1', '1e9'),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (pairs) => {
      const query = readUsageQuery(pairs.map(([key, text]) => `${key}=${text}`).join('&'), nowMs);
      if (query.ok) expect(daysOf(query.value).length).toBeLessThanOrEqual(90);
      else expect(query.error).toMatchObject({ code: 'invalid_request', status: 400 });
    }),
    { numRuns: 500 },
  );
});

test('a cursor comes back as the place it was made of', () => {
  for (const place of [
    { atMs: nowMs, traceId: traceId(7) },
    { atMs: nowMs, traceId: '' },
  ])
    expect(read(`cursor=${cursorOf(place)}`).before).toEqual(place);
});

describe('days of every kind', () => {
  const hourMs = 3_600_000;
  const hours = (search: string) => {
    const days = daysOf(read(search));
    return days.slice(1).map(({ fromMs }, at) => (fromMs - (days[at]?.fromMs ?? 0)) / hourMs);
  };

  test.each([
    ['Europe/Berlin', '2026-03-28', [24, 23, 24]],
    ['Europe/Berlin', '2026-10-24', [24, 25, 24]],
    ['Australia/Lord_Howe', '2026-04-04', [24, 24.5, 24]],
    ['Australia/Lord_Howe', '2026-10-03', [24, 23.5, 24]],
    // Midnight itself is left out.
    ['Africa/Cairo', '2026-04-23', [24, 23, 24]],
    ['Asia/Kathmandu', '2026-03-28', [24, 24, 24]],
  ])('the lengths of those from %s on %s', (zone, start, lengths) => {
    expect(hours(`timezone=${zone}&start_date=${start}&days=4`)).toEqual(lengths);
  });

  test('a day that a zone skipped is none, and the one before it ends where the next begins', () => {
    const days = daysOf(read('timezone=Pacific/Apia&start_date=2011-12-28&days=5'));
    expect(days.map(({ date }) => date)).toEqual(['2011-12-28', '2011-12-29', '2011-12-31', '2012-01-01']);
    expect(hours('timezone=Pacific/Apia&start_date=2011-12-28&days=5')).toEqual([24, 24, 24]);
  });
});

describe('calls are on the day that it was where they are asked about', () => {
  let site: ReturnType<typeof openJournalSite>;
  const starts = fc
    .sample(
      fc.tuple(
        fc.constantFrom(Date.UTC(2026, 2, 24), Date.UTC(2026, 9, 1), Date.UTC(2026, 9, 20)),
        fc.nat(20 * 86_400_000),
      ),
      { numRuns: 400, seed: 9 },
    )
    .map(([from, offset]) => from + offset);

  beforeAll(async () => {
    site = openJournalSite({ clock: { now: () => nowMs, monotonic: () => 0 } });
    const entries = starts.map((startedAtMs, at) => sampleEntry({ traceId: traceId(at), startedAtMs }));
    await Promise.all(entries.map((entry) => settle(site.ledger, entry)));
    await site.feeder.catchUp();
  });
  afterAll(() => site.close());

  test.each([
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kolkata',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
  ])('%s', async (timeZone) => {
    const reports = new SqlUsageReports(openKysely(site.database));
    const dayOf = new Intl.DateTimeFormat('sv', { timeZone });
    for (const range of ['start_date=2026-03-20&days=40', 'start_date=2026-09-25&days=60']) {
      const query = read(`${range}&timezone=${timeZone}`);
      const days = daysOf(query);
      const bounds = [...days.map(({ fromMs }) => fromMs), (days.at(-1)?.fromMs ?? 0) + 86_400_000];
      const series = await reports.series('key-1', bounds);
      const counted = series.map(({ fromMs, totals }) => [dayOf.format(fromMs + 7_200_000), totals.calls]);
      const within = starts
        .map((at) => dayOf.format(at))
        .filter((day) => days.some(({ date }) => date === day));
      const expected = [...Map.groupBy(within, (day) => day)].map(([day, calls]) => [day, calls.length]);
      expect(counted).toEqual(expected.sort());
    }
  });
});
