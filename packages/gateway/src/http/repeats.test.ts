import { beforeEach, expect, test, vi } from 'vitest';
import { nanoUsd } from '../money/money.ts';
import type { CallClaim, ClaimResult } from '../ports/call-claims.ts';
import type { LedgerRecord } from '../ports/ledger-record.ts';
import { sampleEntry } from '../store/contract/samples.ts';
import { madeAnswer, type NamedCall, Repeats, wrongName } from './repeats.ts';
import { Slices } from './slices.ts';

let results: (ClaimResult | Error)[] = [];
let claimed: { readonly claim: CallClaim; readonly instead: string | null }[] = [];
let concluded: string[] = [];
let record: LedgerRecord | null = null;
let behindMs: number | null = null;
let isAway = false;

beforeEach(() => {
  [results, claimed, concluded, record, behindMs] = [[], [], [], null, null];
});

const repeats = new Repeats({
  slices: new Slices(),
  now: () => 7,
  claims: {
    claim: (claim, instead) => {
      claimed.push({ claim, instead });
      const result = results.shift() ?? new Error('the store is away');
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
    conclude: ({ traceId }) => {
      concluded.push(traceId);
      return isAway ? Promise.reject(new Error('the store is away')) : Promise.resolve();
    },
  },
  store: { catchUp: () => Promise.resolve(behindMs), findEntry: () => Promise.resolve(record) },
});

const call: NamedCall = {
  ...{ keyId: 'key', name: 'once', traceId: 'second', path: '/v1/chat/completions', search: '' },
  body: Buffer.from('{}'),
};

const over: ClaimResult = { kind: 'over', traceId: 'first' };
const failed = { status: 'failed', chargeNanoUsd: nanoUsd(0n) } as const;

test('a name that is free is claimed before the call is made, and concluded behind it', async () => {
  results = [{ kind: 'claimed' }];
  const beginning = await repeats.begin(call);
  expect(claimed).toEqual([
    {
      claim: {
        ...{ keyId: 'key', name: 'once', traceId: 'second', nowMs: 7 },
        fingerprint: expect.any(String) as string,
      },
      instead: null,
    },
  ]);
  expect(concluded).toEqual([]);
  if (beginning.kind === 'run') beginning.over();
  expect(concluded).toEqual(['second']);
});

test('its end is written when the store is back', async () => {
  vi.useFakeTimers();
  try {
    results = [{ kind: 'claimed' }];
    isAway = true;
    const beginning = await repeats.begin(call);
    if (beginning.kind === 'run') beginning.over();
    await vi.advanceTimersByTimeAsync(12_000);
    expect(concluded).toHaveLength(3);
    isAway = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(concluded).toHaveLength(4);
  } finally {
    isAway = false;
    vi.useRealTimers();
  }
});

test('path, query and body are told apart', async () => {
  const others = [{}, { body: Buffer.from('{ }') }, { path: '/v1/messages' }, { search: 'alt=sse' }];
  for (const more of others) {
    results = [{ kind: 'claimed' }];
    await repeats.begin({ ...call, ...more });
  }
  expect(new Set(claimed.map(({ claim }) => claim.fingerprint)).size).toBe(4);
});

test.each([
  [{ kind: 'running' }, 409, 'call_in_progress', 2_000],
  [{ kind: 'other-body' }, 422, 'idempotency_key_reused', null],
  [new Error('away'), 503, 'store_unavailable', 2_000],
] as const)('%j is refused with %i', async (result, status, code, retryAfterMs) => {
  results = [result];
  expect(await repeats.begin(call)).toMatchObject({
    kind: 'refused',
    failure: { status, code, retryAfterMs },
  });
});

test.each([
  ['complete', nanoUsd(5n)],
  ['complete', nanoUsd(0n)],
  ['caller_gone', nanoUsd(5n)],
] as const)('one that is %s for %s was made', async (status, chargeNanoUsd) => {
  results = [over];
  record = sampleEntry({ traceId: 'first', status, chargeNanoUsd });
  expect(await repeats.begin(call)).toEqual({ kind: 'made', record });
});

test.each([
  ['one that failed without a charge', () => sampleEntry(failed)],
  ['one that its caller left before content', () => sampleEntry({ ...failed, status: 'caller_gone' })],
  ['one that broke off with its process', () => ({ ...sampleEntry(failed), status: 'interrupted' as const })],
  ['one that never came to an entry', () => null],
])('%s is made again, in the place of the first', async (_, made) => {
  results = [over, { kind: 'claimed' }];
  record = made();
  expect((await repeats.begin(call)).kind).toBe('run');
  expect(claimed.map(({ instead }) => instead)).toEqual([null, 'first']);
});

test('as long as the store has not all there is, nothing is made', async () => {
  results = [over];
  behindMs = 5;
  expect(await repeats.begin(call)).toMatchObject({ failure: { code: 'call_in_progress' } });
});

test('where others are always quicker, the caller is told to come back', async () => {
  results = [over, over, over];
  expect(await repeats.begin(call)).toMatchObject({ failure: { code: 'call_in_progress' } });
});

test.each(['', 'a b', 'é', 'x'.repeat(256), 'a\tb'])('%j is no name', (name) => {
  expect(wrongName(name)).toMatchObject({ status: 400, param: 'idempotency-key' });
});

test.each(['x', 'x'.repeat(255), '550e8400-e29b-41d4-a716-446655440000', '"quoted"'])('%j is one', (name) => {
  expect(wrongName(name)).toBeNull();
});

test('the entry answers in a document of its own, which is no model’s answer and no error', () => {
  const { status, headers, body } = madeAnswer(
    sampleEntry({ traceId: 'first', chargeNanoUsd: nanoUsd(1_500_000n) }),
  );
  expect(status).toBe(410);
  expect(headers.join()).toContain('x-should-retry,false,x-headgate-idempotent-replay,first');
  const document = JSON.parse(Buffer.from(body).toString()) as object;
  expect(document).toMatchObject({
    object: 'idempotent_replay',
    trace_id: 'first',
    status: 'complete',
    billed: true,
    charge_usd: '0.0015',
  });
  expect(document).not.toHaveProperty('error');
});
