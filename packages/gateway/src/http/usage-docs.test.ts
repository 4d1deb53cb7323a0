import { readFileSync } from 'node:fs';
import { noUsage } from '@headgate/protocols';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainRouting } from '../catalogue/catalogue.ts';
import { nanoUsd } from '../money/money.ts';
import type { Standing } from '../ports/holds.ts';
import { openJournalSite } from '../store/contract/journal-site.ts';
import { sampleEntry, settle } from '../store/contract/samples.ts';
import { SqlUsageReports } from '../store/reports.ts';
import { openKysely } from '../store/sqlite/kysely.ts';
import { UsagePages } from '../store/usage-pages.ts';
import { answerUsage } from './usage.ts';

const page = readFileSync(new URL('../../../../docs/callers.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('## See what you have used'));

const nowMs = Date.UTC(2026, 10, 23, 12);
const site = openJournalSite({ clock: { now: () => nowMs, monotonic: () => 0 } });

const served = sampleEntry({
  traceId: '019ab03c5a407d3c9a1bf2e45c6d7e8f',
  modelRequested: 'gpt-5-mini',
  modelServed: 'gpt-5-mini',
  startedAtMs: Date.UTC(2026, 10, 23, 8, 30),
  finishedAtMs: Date.UTC(2026, 10, 23, 8, 30, 1),
  usage: { ...noUsage, inputFresh: 1_000, inputCacheRead: 4_000, output: 500, outputReasoning: 300 },
  chargeNanoUsd: nanoUsd(1_950_000n),
  losses: ['top_k'],
  clientRequestId: 'build-17',
  tag: 'nightly',
});
const failed = sampleEntry({
  traceId: '019aab1f30007d3c9a1bf2e45c6d7e8f',
  modelRequested: 'gpt-5-mini',
  startedAtMs: Date.UTC(2026, 10, 22, 9),
  finishedAtMs: Date.UTC(2026, 10, 22, 9, 0, 2),
  usage: noUsage,
  chargeNanoUsd: nanoUsd(0n),
  modelServed: null,
  finishReason: null,
  ttftMs: null,
  status: 'failed',
  unbilledReason: 'upstream_failed',
  httpStatus: 502,
  errorCode: 'upstream_error',
});

const own = { owner: 'key', id: 'key-1', model: null } as const;
const standings: readonly Standing[] = [
  {
    ...own,
    ...{ kind: 'month', amount: 20_000_000_000n, remaining: 19_998_050_000n },
    resetsAtMs: Date.UTC(2026, 11, 1),
  },
  { ...own, kind: 'requests-per-minute', amount: 60n, remaining: 58n, resetsAtMs: nowMs + 41_000 },
];

beforeAll(async () => {
  for (const entry of [served, failed]) await settle(site.ledger, entry);
  await site.feeder.catchUp();
});
afterAll(() => site.close());

async function answerTo(search: string): Promise<string> {
  const kysely = openKysely(site.database);
  const [sums, pages] = [new SqlUsageReports(kysely), new UsagePages(kysely)];
  const reports = {
    catchUp: () => Promise.resolve(null),
    totals: sums.totals.bind(sums),
    series: sums.series.bind(sums),
    byModel: sums.byModel.bind(sums),
    sisters: sums.sisters.bind(sums),
    balance: sums.balance.bind(sums),
    page: pages.page.bind(pages),
    find: pages.find.bind(pages),
  };
  const group = {
    ...({ id: 'team', name: 'Team', platform: 'completions', multiplierPpm: 1_000_000n } as const),
    ...{ models: null, routing: plainRouting },
  };
  const caller = {
    ...{
      keyId: 'key-1',
      keyName: 'ci',
      accountId: 'account-1',
      group,
      models: null,
      strict: false,
      addressRanges: null,
    },
    ...{ createdAtMs: 0, expiresAtMs: null, multipliers: null },
    limits: [
      {
        ...({
          owner: 'key',
          id: 'key-1',
          isShown: true,
          creditLimitNanoUsd: null,
          budgets: [],
          rates: [],
        } as const),
        ...{ timeZone: 'UTC', alertAtPpm: 800_000 },
      },
    ],
  };
  const holds = { standings: () => Promise.resolve(standings) };
  const answer = await answerUsage(search, caller, { reports, holds }, nowMs, () => undefined);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value.body;
}

/** The same value, but for members that the page leaves out where it has `…`. */
function asShown(value: unknown, shown: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shown))
    return value.map((element, at) => asShown(element, shown[at]));
  if (typeof value !== 'object' || value === null || typeof shown !== 'object' || shown === null)
    return value;
  const example = shown as Readonly<Record<string, unknown>>;
  const members = Object.entries(value)
    .filter(([name]) => !('…' in example) || name in example)
    .map(([name, member]) => [name, asShown(member, example[name])] as const);
  return Object.fromEntries('…' in example ? [...members, ['…', example['…']]] : members);
}

test('the example is the answer', async () => {
  const text = /```json\n(\{\n {2}"object": "usage"[\s\S]*?)\n```/.exec(section)?.[1] ?? '';
  const example: unknown = JSON.parse(text);
  const answer: unknown = JSON.parse(await answerTo('days=7&timezone=Europe/Berlin&limit=1'));
  expect(example).toEqual(asShown(answer, example));
});

test('a table has a column for every member of a call, and no other', async () => {
  const [titles = '', line = ''] = (await answerTo('format=csv&billed=true')).split('\r\n');
  const { data } = JSON.parse(await answerTo('billed=true')) as { data: [Record<string, unknown>] };
  const { usage, ...members } = data[0];
  const expected = { ...members, ...(usage as Record<string, unknown>) };
  expect(titles.split(',').toSorted()).toEqual(Object.keys(expected).toSorted());
  const cells = line.split(',');
  const row = Object.fromEntries(titles.split(',').map((title, at) => [title, cells[at]]));
  const texts = Object.entries(expected).map(([name, value]) => [name, value === null ? '' : String(value)]);
  expect(row).toEqual(Object.fromEntries(texts));
});

test('a table without calls is a line of titles', async () => {
  expect(await answerTo('format=csv&model=nothing')).toMatch(/^trace_id,[a-z0-9_,]+\r\n$/);
});
