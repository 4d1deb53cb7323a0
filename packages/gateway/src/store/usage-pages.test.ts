import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UsageFilter, UsagePlace } from '../ports/usage-report.ts';
import { openJournalSite } from './contract/journal-site.ts';
import { epochMs, sampleEntry, settle, traceId } from './contract/samples.ts';
import { spanMs } from './reports.ts';
import { openKysely } from './sqlite/kysely.ts';
import { UsagePages } from './usage-pages.ts';

/** One quarter of an hour holds more calls than a page looks at. */
const calls = 7_000;
const period = { fromMs: epochMs - 90 * spanMs.day, toMs: epochMs + spanMs.day };

let site: ReturnType<typeof openJournalSite>;
let statements: string[];
let pages: UsagePages;

beforeEach(async () => {
  site = openJournalSite({ clock: { now: () => epochMs, monotonic: () => 0 } });
  const entryAt = (at: number, startedAtMs: number, modelRequested = 'alpha') =>
    settle(site.ledger, sampleEntry({ traceId: traceId(at), startedAtMs, modelRequested }));
  await Promise.all([
    entryAt(1, epochMs, 'beta'),
    ...Array.from({ length: calls }, (_, at) => entryAt(at + 2, epochMs + 1 + (at % 1000))),
    ...Array.from({ length: 20 }, (_, day) =>
      entryAt(calls + 2 + day, epochMs - day * spanMs.day - 1, 'gamma'),
    ),
  ]);
  await site.feeder.catchUp();
  statements = [];
  const { database } = site;
  const prepare = (text: string) => {
    statements.push(text);
    return database.prepare(text);
  };
  pages = new UsagePages(openKysely({ prepare } as DatabaseSync));
});
afterEach(() => site.close());

const page = (filter: UsageFilter, before: UsagePlace | null = null) =>
  pages.page('key-1', period, filter, 50, before);
/** Statements that read calls which have ended. */
const looks = () => statements.filter((text) => text.includes('as passes'));

test('a filter that lets nothing through reads no calls, and one that lets few through so many at the most', async () => {
  const nothing = { entries: [], next: null, searchedToMs: null };
  for (const filter of [
    { model: 'delta' },
    { billed: false },
    { status: 'failed' },
    { status: 'open' },
  ] as const)
    expect(await page(filter)).toEqual(nothing);
  expect(looks()).toEqual([]);

  const first = await page({ model: 'beta' });
  expect(first.entries).toEqual([]);
  expect(first.searchedToMs).toBe(first.next?.atMs);
  expect(first.searchedToMs).toBeGreaterThan(epochMs);
  expect(looks()).toHaveLength(5);
  const second = await page({ model: 'beta' }, first.next);
  expect(second.entries.map((entry) => entry.traceId)).toEqual([traceId(1)]);
  expect(second).toMatchObject({ next: null, searchedToMs: null });
});

test('calls that lie days apart are found a few days at a time, each of them once', async () => {
  const seen: string[] = [];
  let before: UsagePlace | null = null;
  let count = 0;
  do {
    const found = await page({ model: 'gamma' }, before);
    seen.push(...found.entries.map((entry) => entry.traceId));
    before = found.next;
    count++;
  } while (before !== null);
  expect(seen).toEqual(Array.from({ length: 20 }, (_, day) => traceId(calls + 2 + day)));
  expect(count).toBe(4);
});

test('a key whose longer sums are still to be made has the same pages', async () => {
  const found = await page({ model: 'gamma' });
  site.database.exec(`DELETE FROM usage_spans; INSERT INTO usage_spans_due VALUES ('key-1', 0)`);
  expect(await page({ model: 'gamma' })).toEqual(found);
});
