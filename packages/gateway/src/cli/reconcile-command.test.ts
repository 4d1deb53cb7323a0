import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noUsage, succeed } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { nanoUsd } from '../money/money.ts';
import type { AttemptEntry, CallEntry } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { epochMs, sampleAttempt, sampleEntry, settle } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { runCommandLine } from './run.ts';

const hour = 3_600_000;
const openLane = (...lane: ConstructorParameters<typeof SameThreadLane>) => new SameThreadLane(...lane);
let directory = '';
let store: Store;

/** The nth call: at its own hour, one attempt on `channel-1` unless told otherwise. */
function callAt(n: number, attempts: readonly AttemptEntry[]): CallEntry {
  const startedAtMs = epochMs + n * hour;
  const traceId = startedAtMs.toString(16).padStart(12, '0') + n.toString(16).padStart(20, '0');
  return sampleEntry({
    traceId,
    startedAtMs,
    finishedAtMs: startedAtMs + 900,
    attempts,
    modelServed: 'alpha-2026-01-01',
  });
}

/** 1,201 tokens in and 307 out, for $0.005. */
const used = (id: string | null, changes: Partial<AttemptEntry> = {}) =>
  sampleAttempt({ upstreamRequestId: id, ...changes });
const nothing = { usage: null, costNanoUsd: nanoUsd(0n), result: 'refused' } as const;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-reconcile-'));
  await headgate('keys list');
  store = await openSqliteStore({
    file: join(directory, 'data', 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => 0 },
    onAlarm: () => undefined,
    openLane,
  });
  const calls = [
    callAt(0, [used('req-0')]),
    // It was tried on the channel and answered by another.
    callAt(1, [
      used('req-1', { result: 'cut_before_content' }),
      used('other-1', { n: 2, channelId: 'spare' }),
    ]),
    callAt(2, [used('req-2', nothing)]),
    callAt(3, [used('spare-3', { channelId: 'spare' })]),
    callAt(25, [
      used('req-25', { usage: { ...noUsage, inputFresh: 1_000, inputCacheRead: 201, output: 307 } }),
    ]),
  ];
  for (const call of calls) expect(await settle(store.ledger, call)).toBe('settled');
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

async function headgate(line: string, ...more: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine([...line.split(' '), ...more], {
    environment: environmentOf({}),
    directory,
    stopping: () => AbortSignal.abort(),
    version: '1.2.3',
    readSecret: () => Promise.resolve(succeed('')),
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

async function reconcile(csv: string, ...more: readonly string[]) {
  const file = join(directory, 'usage.csv');
  writeFileSync(file, csv);
  const words = ['--channel', 'channel-1', '--file', file, ...more];
  const { code, out } = await headgate('ledger reconcile --json', ...words);
  const text = await headgate('ledger reconcile', ...words);
  return { code, found: JSON.parse(out) as Found, text: text.out, err: text.err };
}

interface Found {
  readonly by: string;
  readonly isReconciled: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly drifts: readonly Record<string, unknown>[];
  readonly badLines: readonly { line: number; problem: string }[];
  readonly badLineCount: number;
  readonly drift: Readonly<Record<string, unknown>>;
  readonly errors?: readonly string[];
}

/** An export of single requests, as gateways and routers give it. */
const requests = `generation_id,created_at,model,tokens_prompt,tokens_completion,cost_usd
req-0,2026-03-01T00:00:00.512Z,alpha-2026,1201,307,0.005
req-1,2026-03-01 01:00:01,alpha-2026,1201,307,0.0050004
req-25,2026-03-02T01:00:01Z,alpha-2026,1201,307,0.005
`;

/** The same as an invoice has it, by day, with titles of its own and amounts in cents. */
const days = `Day,SKU,Calls,Input (uncached),Cache reads,Output,"Net amount, USD"
2026-03-01,alpha-2026,2,2402,0,614,$0.01
2026-03-02,alpha-2026,1,1000,201,307,$0.01
`;
const dayColumns = [
  ...['time=Day', 'model=SKU', 'requests=Calls', 'uncached_input_tokens=Input (uncached)'],
  ...['cache_read_tokens=Cache reads', 'output_tokens=Output'],
].join(',');

describe('ledger reconcile', () => {
  test('says that there is no drift where a request was counted and priced alike, to the rounding', async () => {
    const { code, found, text } = await reconcile(requests);
    expect(found).toMatchObject({ by: 'request', isReconciled: true, drifts: [], badLineCount: 0 });
    expect(code).toBe(0);
    expect(text).toMatch(/^no drift: channel-1, by request, 2026-03-01 00:00 to 2026-03-02 01:00 UTC\n/);
  });

  test('names each request that differs, and what is missing on either side', async () => {
    const csv = requests
      .replace(
        'req-0,2026-03-01T00:00:00.512Z,alpha-2026,1201',
        'req-0,2026-03-01T00:00:00.512Z,alpha-2026,1301',
      )
      .replace('0.005\n', '0.006\n')
      .replace(/^req-1,.*\n/m, 'req-9,2026-03-01T07:00Z,alpha-2026,5,5,0.000123456789\n');
    const { code, found, text } = await reconcile(csv);
    expect(code).toBe(1);
    expect(found.counts).toEqual({ 'missing-here': 1, 'missing-upstream': 1, differs: 1 });
    expect(found.drifts).toMatchObject([
      { requestId: 'req-0', kind: 'differs', drift: { inputTokens: 100, outputTokens: 0, costUsd: '0.001' } },
      { requestId: 'req-1', kind: 'missing-upstream', upstream: null, drift: { costUsd: '-0.005' } },
      { requestId: 'req-9', kind: 'missing-here', ours: null, drift: { costNanoUsd: '123457' } },
    ]);
    expect(text).toMatch(/^drift: .*1 not in the ledger, 1 not in the file, 1 differs$/m);
    expect(text).toMatch(/^req-0 +differs +\+100 +0 +\+0\.001000$/m);
    expect((await reconcile(csv, '--limit', '1')).text).toContain('2 more; --limit shows them.');
  });

  test('lines of one request are added up, and one that we were not charged for is drift', async () => {
    const split = requests.replace(
      /^req-0,.*$/m,
      'req-0,2026-03-01T00:00Z,alpha-2026,1201,0,0.002\nreq-0,2026-03-01T00:00Z,alpha-2026,0,307,0.003',
    );
    expect((await reconcile(split)).code).toBe(0);
    const { found } = await reconcile(`${requests}req-2,2026-03-01T02:00Z,alpha-2026,7,0,0.0001\n`);
    expect(found.drifts).toMatchObject([{ requestId: 'req-2', kind: 'differs', drift: { inputTokens: 7 } }]);
  });

  test('matches an invoice by day and model, with titles of its own, and cents are no drift', async () => {
    const columns = `${dayColumns}`;
    const renamed = days.replace('"Net amount, USD"', 'Net amount');
    const { code, found, text } = await reconcile(renamed, '--columns', `${columns},cost_usd=Net amount`);
    expect(found).toMatchObject({ by: 'day', isReconciled: true, counts: { differs: 0 } });
    expect([code, text.slice(0, 8)]).toEqual([0, 'no drift']);
    const exact = await reconcile(
      renamed,
      '--columns',
      `${columns},cost_usd=Net amount`,
      '--tolerance',
      '0.001',
    );
    expect(exact.code).toBe(1);
    expect(exact.found.drifts).toMatchObject([
      { day: '2026-03-02', model: 'alpha-2026', drift: { costUsd: '0.005', inputTokens: 0 } },
    ]);
    // The tokens alone, where the file has nothing else that is known.
    expect((await reconcile(days, '--columns', columns)).code).toBe(0);
  });

  test('a model may stand under the name that its answers have', async () => {
    const served = 'date,model,input_tokens,output_tokens\n2026-03-02,alpha-2026-01-01,1201,307\n';
    expect((await reconcile(served)).found).toMatchObject({ isReconciled: true, by: 'day' });
    const { found } = await reconcile(served.replace('alpha-2026-01-01', 'gamma'));
    expect(found.counts).toEqual({ 'missing-here': 1, 'missing-upstream': 1, differs: 0 });
  });

  test('a file without times is about the time that is said', async () => {
    const csv = 'request_id,input_tokens\nreq-0,1201\n';
    expect(await reconcile(csv)).toMatchObject({ code: 2 });
    expect((await reconcile(csv, '--since', '2026-03-01', '--until', '2026-03-01T00:30Z')).code).toBe(0);
    const { found } = await reconcile(csv, '--since', '2026-03-01', '--until', '2026-03-02');
    expect(found.drifts).toMatchObject([{ requestId: 'req-1', kind: 'missing-upstream' }]);
  });

  test('a line that cannot be read is named by its number and its field, and is drift', async () => {
    const bad = `${requests}req-3,yesterday,alpha-2026,1,1,0.1
req-4,2026-03-01,alpha-2026,1.5,-1,1e3
,2026-03-01,alpha-2026,1,1,0.1
req-5,2026-03-01
req-6,2026-03-01,alpha-2026,1,1,${'9'.repeat(40)}
req-7,2026-03-01,alpha-2026,1,1,NaN
`;
    const { code, found, text } = await reconcile(bad);
    expect(code).toBe(1);
    expect(found.badLineCount).toBe(6);
    expect(found.badLines.map(({ line, problem }) => `${line}: ${problem}`)).toEqual([
      expect.stringMatching(/^5: time must be a date or a time, .* not "yesterday"$/),
      expect.stringMatching(/^6: input_tokens must be .*"1\.5"; output_tokens .*"-1"; cost_usd .*"1e3"$/),
      '7: request_id is empty',
      '8: it has 2 cells, and the titles are 6',
      expect.stringMatching(/^9: cost_usd must be an amount in dollars/),
      expect.stringMatching(/^10: cost_usd .*"NaN"$/),
    ]);
    expect(text).toContain('line 7: request_id is empty');
  });

  test.each([
    [[], /say with --channel/],
    [['--channel', 'c'], /say with --file/],
    [
      ['--channel', 'c', '--file', 'f', '--columns', 'colour=Red'],
      /--columns must be pairs .* "colour=Red" is none/,
    ],
    [['--channel', 'c', '--file', 'f', '--tolerance', '1e3'], /--tolerance: "1e3" is not a plain decimal/],
    [['--channel', 'c', '--file', 'f', '--by', 'week'], /--by must be request or day/],
    [['--channel', 'c', '--file', 'f', '--since', 'now'], /--since and --until must be dates/],
  ])('refuses %j', async (words, message) => {
    const { code, err } = await headgate('ledger reconcile', ...words);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  test.each([
    ['', 'the file is empty'],
    ['a,b\n1,2\n', 'no column is known as request_id, or time and model, nor as input_tokens'],
    ['request_id,note\n1,2\n', '--columns "cost_usd=note"; there are request_id, note'],
  ])('says what a file lacks: %j', async (csv, message) => {
    const { code, err } = await reconcile(csv);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  test('a file that is not there ends with 4', async () => {
    const { code, err } = await headgate('ledger reconcile --channel c --file nowhere.csv');
    expect(code).toBe(4);
    expect(err).toContain('nowhere.csv');
  });

  test('a channel that the ledger has nothing of is said so', async () => {
    writeFileSync(join(directory, 'usage.csv'), requests);
    const { code, out } = await headgate(
      `ledger reconcile --channel chanel-1 --file ${join(directory, 'usage.csv')}`,
    );
    expect(code).toBe(1);
    expect(out).toContain('nothing that was asked of the channel chanel-1');
  });
});
