import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noUsage, succeed } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { nanoUsd } from '../money/money.ts';
import type { CallEntry } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { declaration, epochMs, sampleAttempt, sampleEntry, settle } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { runCommandLine } from './run.ts';

const minute = 60_000;
/** Trace ids as a gateway makes them: the time of their beginning comes first. */
const traceAt = (timeMs: number, end: number) =>
  timeMs.toString(16).padStart(12, '0') + end.toString(16).padStart(20, '0');
const at = (minutes: number, changes: Partial<CallEntry> = {}) => {
  const startedAtMs = epochMs + minutes * minute;
  const id = traceAt(startedAtMs, 0xabc_0000 + minutes);
  return sampleEntry({ traceId: id, startedAtMs, finishedAtMs: startedAtMs + 900, ...changes });
};

const failed = {
  status: 'failed',
  unbilledReason: 'upstream_failed',
  channelId: null,
  httpStatus: 502,
  errorCode: 'upstream_error',
  modelServed: null,
  finishReason: null,
  finishReasonRaw: null,
  usage: noUsage,
} as const;
const rich = at(5, {
  tag: 'nightly',
  modelRequested: 'beta',
  keyId: 'key-with-a-name-longer-than-a-column',
  multiplierPpm: 1_150_000n,
  losses: ['seed', 'messages[].name'],
  usage: { ...noUsage, inputFresh: 1_000, inputCacheRead: 30_000, output: 500 },
  attempts: [
    sampleAttempt({
      result: 'timed_out',
      detail: 'first-content',
      httpStatus: null,
      ttftMs: null,
      costNanoUsd: nanoUsd(0n),
    }),
    sampleAttempt({ n: 2, channelId: 'spare', lane: 'translate', costNanoUsd: nanoUsd(7_000_000n) }),
  ],
  channelId: 'spare',
});
const calls: readonly CallEntry[] = [
  at(0),
  at(1, { ...failed, attempts: [sampleAttempt({ result: 'refused', costNanoUsd: nanoUsd(1_000_000n) })] }),
  at(2, { keyId: 'key-2', groupId: 'group-2', accountId: 'account-2' }),
  rich,
  at(24 * 60),
];

let directory = '';
let store: Store;

function openStore(): Promise<Store> {
  return openSqliteStore({
    file: join(directory, 'data', 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => 0 },
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-calls-'));
  await headgate('keys list');
  // It stays open, as that of a gateway that runs beside the commands.
  store = await openStore();
  await store.configuration.apply('file', declaration, epochMs);
  for (const call of calls) expect(await settle(store.ledger, call)).toBe('settled');
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

async function headgate(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(line.split(' '), {
    environment: environmentOf({}),
    directory,
    stopping: () => AbortSignal.abort(),
    version: '1.2.3',
    readSecret: () => Promise.resolve(succeed('')),
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

const since = '--since 2026-01-01';
const isNarrow = (text: string) => Math.max(...text.split('\n').map((line) => line.length)) <= 80;

describe('calls list', () => {
  test('shows the newest first, 80 columns wide, and what they were charged', async () => {
    const { code, out } = await headgate(`calls list ${since}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^TIME \(UTC\) +STATUS +MODEL +CHANNEL +CHARGE \$ +CALL\n/);
    const rows = out.split('\n').slice(1, 6);
    expect(rows.map((row) => row.slice(-8))).toEqual(
      [...calls].reverse().map(({ traceId }) => traceId.slice(-8)),
    );
    expect(rows[3]).toMatch(/failed +alpha +– +– /);
    expect(out).toContain('5 calls since 2026-01-01 00:00 UTC');
    expect(isNarrow(out)).toBe(true);
  });

  test.each([
    ['--key key-2', [2]],
    ['--account account-2', [2]],
    ['--billed no', [1]],
    ['--status failed', [1]],
    ['--channel spare', [3]],
    ['--model beta', [3]],
    [`--until ${new Date(epochMs + 90_000).toISOString()}`, [1, 0]],
    ['--limit 2', [4, 3]],
    [`--before ${calls[2]?.traceId}`, [1, 0]],
  ])('narrowed by %s', async (options, found) => {
    const { out } = await headgate(`calls list ${since} ${options} --json`);
    const { calls: listed } = JSON.parse(out) as { calls: readonly { traceId: string }[] };
    expect(listed.map(({ traceId }) => traceId)).toEqual(found.map((place) => calls[place]?.traceId));
  });

  test('pages, and says how', async () => {
    const { out } = await headgate(`calls list ${since} --limit 2`);
    expect(out).toContain(`Older ones: the same with --before ${calls[3]?.traceId}`);
    const { next } = JSON.parse((await headgate(`calls list ${since} --limit 2 --json`)).out) as {
      next: string;
    };
    expect(next).toBe(calls[3]?.traceId);
  });

  test('as CSV has a row for each, and nothing else', async () => {
    const { out } = await headgate(`calls list ${since} --csv`);
    expect(out.split('\n')).toHaveLength(calls.length + 2);
    expect(out).toMatch(/^trace_id,started_at,status/);
  });

  test.each([
    ['--since yesterday', '--since and --until must be dates'],
    ['--limit 0', '--limit must be a whole number from 1 to 1000'],
    ['--status gone', '--status must be one of open, complete'],
    ['--billed maybe', '--billed must be yes or no'],
    ['--since 1d --until 2d', '--until must be later than --since'],
  ])('refuses %s', async (options, message) => {
    const { code, err } = await headgate(`calls list ${options}`);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('calls show', () => {
  test('shows attempts, losses, and the charge as it can be worked out by hand', async () => {
    for (const id of [rich.traceId, rich.traceId.toUpperCase()]) {
      const { code, out } = await headgate(`calls show ${id}`);
      expect(code).toBe(0);
      expect(out).toContain('beta, served by alpha-2026\n');
      expect(out).toMatch(/1 +channel-1 +timed_out +– +– +890 ms +0\.000000\n/);
      expect(out).toMatch(/2 +spare +answered +200 +119 ms +890 ms +0\.007000\n/);
      expect(out).toContain('2: translated; edited model');
      expect(out).toMatch(/input +1,000 +[\d.]+ \/ M/);
      expect(out).toMatch(/cache read +30,000 +[\d.]+ \/ M/);
      expect(out).toContain(' × 1.15 multiplier = $');
      expect(out).toContain('price model:beta@1');
      expect(out).toContain('Lost in translation: seed, messages[].name');
      expect(isNarrow(out)).toBe(true);
    }
  });

  test('as JSON the products of the charge add up to it', async () => {
    const { out } = await headgate(`calls show ${rich.traceId} --json`);
    const { chargeTerms, chargeNanoUsd } = JSON.parse(out) as {
      chargeNanoUsd: string;
      chargeTerms: readonly Record<'units' | 'price' | 'factorPpm', string>[];
    };
    const sum = chargeTerms.reduce(
      (total, { units, price, factorPpm }) => total + BigInt(units) * BigInt(price) * BigInt(factorPpm),
      0n,
    );
    const exact = sum * 1_150_000n;
    const unit = 1_000_000_000_000_000n;
    expect(BigInt(chargeNanoUsd) * unit - exact).toBeLessThanOrEqual(unit / 2n);
    expect(exact - BigInt(chargeNanoUsd) * unit).toBeLessThanOrEqual(unit / 2n);
  });

  test('says what is wrong with an id', async () => {
    expect(await headgate('calls show nope')).toMatchObject({ code: 2 });
    expect((await headgate('calls show abc00005')).err).toContain('older ones are found by all 32 digits');
    expect((await headgate(`calls show ${'f'.repeat(32)}`)).err).toContain('there is no call ffff');
  });
});

describe('calls tail', () => {
  test('hears of calls as they end, of those that had begun before, and of none twice', async () => {
    const every = { fromMs: 0 };
    const [slow, quick, later] = [30, 31, 32].map((minutes) => at(minutes, { keyId: `tail-${minutes}` }));
    if (slow === undefined || quick === undefined || later === undefined) throw new Error('three calls');
    store.ledger.open(slow);
    await store.ledger.flush();
    await store.catchUp();
    const begun = await store.calls.follow(every, null);
    expect(begun.records).toEqual([]);
    const heard: string[] = [];
    let { mark } = begun;
    for (const call of [quick, slow, later]) {
      await settle(store.ledger, call);
      await store.catchUp();
      const found = await store.calls.follow({ ...every, billed: true }, mark);
      heard.push(...found.records.map(({ keyId }) => keyId));
      mark = found.mark;
    }
    expect(heard).toEqual(['tail-31', 'tail-30', 'tail-32']);
    expect((await store.calls.follow({ ...every, keyId: 'tail-32' }, mark)).records).toEqual([]);
  });

  test('ends when it is told to', async () => {
    expect(await headgate('calls tail')).toEqual({ code: 0, out: '', err: '' });
  });
});

describe('spend', () => {
  test('by key, with cost and margin, 80 columns wide', async () => {
    const { code, out } = await headgate(`spend ${since}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^KEY +CALLS +TOKENS +CHARGE \$ +COST \$ +MARGIN \$ +%\n/);
    expect(out).toContain('key-with-a-name-longe…');
    expect(out).toMatch(/\nall /);
    expect(isNarrow(out)).toBe(true);
  });

  test.each(['key', 'group', 'account', 'model', 'channel', 'day', 'tag'])(
    'by %s it sums up to all that was charged and all that was paid',
    async (by) => {
      const { out } = await headgate(`spend ${since} --by ${by} --until 2026-12-31 --json`);
      const { spend, total } = JSON.parse(out) as {
        spend: readonly Record<'chargeNanoUsd' | 'costNanoUsd' | 'marginNanoUsd', string>[];
        total: Record<'calls' | 'chargeNanoUsd' | 'costNanoUsd', string>;
      };
      const entries: CallEntry[] = [];
      for await (const entry of store.exportEntries({})) entries.push(entry as CallEntry);
      const charged = entries.reduce((sum, { chargeNanoUsd }) => sum + chargeNanoUsd, 0n);
      const paid = entries
        .flatMap(({ attempts }) => attempts)
        .reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0n), 0n);
      expect([BigInt(total.chargeNanoUsd), BigInt(total.costNanoUsd)]).toEqual([charged, paid]);
      expect(spend.reduce((sum, { marginNanoUsd }) => sum + BigInt(marginNanoUsd), 0n)).toBe(charged - paid);
    },
  );

  test('a channel pays for what was tried on it, and earns what it answered', async () => {
    const { out } = await headgate(`spend ${since} --by channel --model beta --json`);
    const { spend } = JSON.parse(out) as {
      spend: readonly { name: string; calls: number; costNanoUsd: string; chargeNanoUsd: string }[];
    };
    expect(spend.map(({ name, calls: count, costNanoUsd }) => [name, count, costNanoUsd])).toEqual([
      ['spare', 1, '7000000'],
      ['channel-1', 0, '0'],
    ]);
  });

  test('by the callers own labels, of which there may be none', async () => {
    const { out } = await headgate(`spend ${since} --by tag --until 2026-03-02 --csv`);
    expect(out.split('\n').map((line) => line.split(',').slice(0, 2))).toEqual([
      ['tag', 'calls'],
      ['nightly', '1'],
      ['', expect.stringMatching(/^\d+$/)],
      [''],
    ]);
    expect((await headgate(`spend ${since} --by tag`)).out).toMatch(/^no tag +\d/m);
    expect((await headgate(`calls show ${rich.traceId}`)).out).toContain('\ntagged nightly\n');
    const { calls: found } = JSON.parse((await headgate(`calls list ${since} --tag nightly --json`)).out) as {
      calls: readonly { traceId: string }[];
    };
    expect(found.map(({ traceId }) => traceId)).toEqual([rich.traceId]);
    const exported = await headgate('ledger export --tag nightly --format csv');
    expect(exported.out.split('\n')[1]).toMatch(/,nightly$/);
  });

  test('as CSV is exact', async () => {
    const { out } = await headgate(`spend ${since} --by account --account account-2 --csv`);
    expect(out).toMatch(
      /^account,calls,billed_calls,input_tokens,output_tokens,charge_usd,cost_usd,margin_usd,unknown_costs\naccount-2,1,1,1201,307,[\d.]+,0\.005,-?[\d.]+,0\n$/,
    );
  });

  test('marks what nobody knows the cost of, and tells it from nothing', async () => {
    const day = 24 * 60;
    const unknown = sampleAttempt({ channelId: 'unpriced', costNanoUsd: null });
    const gift = sampleAttempt({ channelId: 'gift', costNanoUsd: nanoUsd(0n) });
    for (const late of [
      at(40 * day, { channelId: 'unpriced', attempts: [unknown] }),
      at(40 * day + 60, { channelId: 'unpriced', attempts: [unknown] }),
      at(40 * day + 61, { channelId: 'gift', modelRequested: 'beta', attempts: [gift] }),
    ])
      await settle(store.ledger, late);
    await store.catchUp();
    for (const [by, without, free] of [
      ['channel', 'unpriced', 'gift'],
      ['model', 'alpha', 'beta'],
    ] as const) {
      const period = `--since 2026-04-09 --by ${by}`;
      const { out } = await headgate(`spend ${period}`);
      expect(out).toMatch(new RegExp(`^${without} +2 .* 0\\.000000 \\? +[\\d.]+ \\? +–$`, 'm'));
      expect(out).toMatch(new RegExp(`^${free} +1 .* 0\\.000000 +[\\d.]+ +100$`, 'm'));
      expect(out).toContain('? The cost of 2 attempts is not known');
      expect(isNarrow(out)).toBe(true);
      const { spend } = JSON.parse((await headgate(`spend ${period} --json`)).out) as {
        spend: readonly { unknownCosts: number }[];
      };
      expect(spend.map(({ unknownCosts }) => unknownCosts).toSorted()).toEqual([0, 2]);
    }
    expect(await store.verify()).toMatchObject({ findings: [] });
    expect(
      (await headgate(`calls show ${traceAt(epochMs + 40 * day * minute, 0xabc_0000 + 40 * day)}`)).out,
    ).toMatch(/unpriced .* unknown$/m);
  });

  test('a name that a caller has made up stays on its line', async () => {
    const odd = at(50 * 24 * 60, { ...failed, modelRequested: 'a\nkey operator, group all', attempts: [] });
    await settle(store.ledger, odd);
    await store.catchUp();
    expect((await headgate(`calls show ${odd.traceId}`)).out).toContain('\na key operator, group all\n');
  });

  test('refuses what it cannot sum up by', async () => {
    expect((await headgate('spend --by colour')).err).toContain(
      '--by must be one of key, group, account, model, channel, day',
    );
  });
});

test('help has examples', async () => {
  for (const name of ['calls list', 'calls show', 'calls tail', 'spend'])
    expect((await headgate(`${name} --help`)).out).toContain(`Examples:\n  headgate ${name}`);
});
