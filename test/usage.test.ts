import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callOnce } from './support/faulty-calls.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf } from './support/ledger.ts';
import { chatRequest, exchange, request } from './support/raw-http.ts';

/** The upstream's report for each call, and the price: dollars per million tokens, as an operator writes them. */
const calls = {
  plain: { command: 'prompt=1000,tokens=7', fresh: 1000, read: 0, write: 0, output: 7 },
  cached: {
    command: 'prompt=5000,cached=3333,cache-write=100,tokens=3',
    fresh: 1567,
    read: 3333,
    write: 100,
    output: 3,
  },
  thinking: { command: 'prompt=1,hidden-reasoning=123,tokens=1', fresh: 1, read: 0, write: 0, output: 124 },
  cumulative: { command: 'prompt=11,usage=every,tokens=13', fresh: 11, read: 0, write: 0, output: 13 },
  'on-content': { command: 'prompt=17,usage=content,tokens=5', fresh: 17, read: 0, write: 0, output: 5 },
  'on-finish': { command: 'prompt=19,usage=finish,tokens=5', fresh: 19, read: 0, write: 0, output: 5 },
} as const;
type Call = keyof typeof calls;

const price = { input: '0.0375', cacheRead: '0.003', cacheWrite5m: '0.046875', output: '1.111111' };
const multiplierPpm = 1_234_567n;

/** The charge by schoolbook arithmetic: pico-dollars times parts per million, rounded once, half to even. */
function chargeOf({ fresh, read, write, output }: (typeof calls)[Call]): bigint {
  const picoUsd =
    BigInt(fresh) * 37_500n + BigInt(read) * 3_000n + BigInt(write) * 46_875n + BigInt(output) * 1_111_111n;
  const exact = picoUsd * multiplierPpm;
  const unit = 1_000_000_000n;
  const [whole, rest] = [exact / unit, exact % unit];
  const isUp = rest * 2n > unit || (rest * 2n === unit && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

const amount = z.number().int();
const tokens = z.object({
  input_tokens: amount,
  output_tokens: amount,
  input_fresh_tokens: amount,
  input_cache_read_tokens: amount,
  input_cache_write_5m_tokens: amount,
  output_reasoning_tokens: amount,
});
const totals = tokens.extend({
  calls: amount,
  billed_calls: amount,
  charge: z.string(),
  charge_nano_usd: amount,
});
const usageAnswer = z.object({
  object: z.literal('usage'),
  isValid: z.literal(true),
  mode: z.literal('unrestricted'),
  planName: z.string(),
  unit: z.literal('USD'),
  balance: z.string(),
  balance_nano_usd: amount,
  balance_of: z.enum(['key', 'account']),
  key: z.string(),
  searched_to: z.null(),
  usage: z.object({ today: totals, total: totals }),
  daily_usage: z.array(totals.extend({ date: z.iso.date() })),
  model_stats: z.array(totals.extend({ model: z.string() })),
  data: z.array(
    z.object({
      trace_id: z.string().regex(/^[0-9a-f]{32}$/),
      status: z.string(),
      billed: z.boolean(),
      unbilled_reason: z.string().nullable(),
      model: z.string(),
      stream: z.boolean(),
      usage: tokens,
      usage_source: z.string(),
      charge: z.string(),
      charge_nano_usd: amount,
      http_status: amount.nullable(),
      error_code: z.string().nullable(),
      attempts: amount,
      client_request_id: z.string().nullable(),
      started_at: z.iso.datetime(),
    }),
  ),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
  model_stats_next_cursor: z.string().nullable(),
});

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const models = {
    ...Object.fromEntries(Object.entries(calls).map(([id, { command }]) => [id, `sim+${command}`])),
    failing: 'sim+fault=500',
  };
  gateway = await openTestGateway({
    channels: [{ id: 'a', origin: simulator.origin, models, cost: '0.02' }],
    prices: Object.fromEntries(Object.keys(models).map((id) => [id, price])),
    multiplier: '1.234567',
    moreKeys: {
      ...{ paged: {}, inventive: {}, other: {}, mixed: {}, closed: { account: 'shut' } },
      ...{ one: { account: 'open' }, two: { account: 'open' }, twin: { account: 'open', name: 'two' } },
    },
    openAccounts: ['open'],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

function ask(query: string, key = gateway.keys.completions) {
  return exchange(gateway.apiOrigin, request(`GET /v1/usage${query}`, [`authorization: Bearer ${key}`]));
}

async function usage(query = '', key = gateway.keys.completions): Promise<z.infer<typeof usageAnswer>> {
  const answer = await ask(query, key);
  expect(answer.status, answer.body.toString()).toBe(200);
  return usageAnswer.parse(JSON.parse(answer.body.toString()));
}

function decimal(nanoUsd: bigint): string {
  const digits = nanoUsd.toString().padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
}

test('every number is exact to the nano-dollar', async () => {
  for (const model of Object.keys(calls)) {
    for (const mode of ['json', 'stream'] as const) await callOnce(gateway, model, mode);
  }
  await callOnce(gateway, 'failing', 'json');

  const { usage: sums, model_stats, data, daily_usage, balance, balance_nano_usd } = await usage();
  const charges = Object.values(calls).map((call) => 2n * chargeOf(call));
  const total = charges.reduce((sum, charge) => sum + charge, 0n);
  const outputs = Object.values(calls).reduce((sum, { output }) => sum + 2 * output, 0);
  expect(sums.total).toMatchObject({ calls: 13, billed_calls: 12, output_tokens: outputs });
  expect(sums.total).toMatchObject({ charge: decimal(total), charge_nano_usd: Number(total) });
  expect(sums.today).toEqual(sums.total);
  expect(daily_usage.reduce((sum, day) => sum + day.charge_nano_usd, 0)).toBe(Number(total));
  expect([balance, balance_nano_usd]).toEqual([`-${decimal(total)}`, -Number(total)]);

  for (const [model, call] of Object.entries(calls)) {
    const own = data.filter((entry) => entry.model === model);
    expect(own.map(({ stream }) => stream).sort()).toEqual([false, true]);
    for (const entry of own) {
      expect(entry).toMatchObject({
        billed: true,
        unbilled_reason: null,
        status: 'complete',
        usage_source: 'upstream',
      });
      expect(entry.usage).toMatchObject({
        input_tokens: call.fresh + call.read + call.write,
        input_fresh_tokens: call.fresh,
        input_cache_read_tokens: call.read,
        input_cache_write_5m_tokens: call.write,
        output_tokens: call.output,
      });
      expect(entry.charge).toBe(decimal(chargeOf(call)));
    }
    const stats = model_stats.find((row) => row.model === model);
    expect(stats).toMatchObject({ calls: 2, billed_calls: 2, charge_nano_usd: Number(2n * chargeOf(call)) });
  }
});

test("what the upstreams cost the operator is in the ledger, and never in a caller's answer", async () => {
  const { entry } = await callOnce(gateway, 'plain', 'json');
  // 0.02 USD per million tokens is 20 nano-dollars a token.
  expect(entry.attempts[0]?.costNanoUsd).toBe(20n * 1007n);
  expect((await ask(`?trace_id=${entry.traceId}`)).body.toString()).not.toMatch(/cost|channel|"a"|sim\+/);
});

describe('one call by its trace id', () => {
  test('a billed one, however the id is written', async () => {
    const { entry } = await callOnce(gateway, 'plain', 'stream');
    const dashed = entry.traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();
    for (const id of [entry.traceId, dashed]) {
      const { data } = await usage(`?trace_id=${id}`);
      expect(data).toMatchObject([{ trace_id: entry.traceId, billed: true, attempts: 1, http_status: 200 }]);
    }
  });

  test('one that was not billed says why', async () => {
    const { entry } = await callOnce(gateway, 'failing', 'stream');
    const { data } = await usage(`?trace_id=${entry.traceId}`);
    expect(data).toMatchObject([
      {
        billed: false,
        unbilled_reason: 'upstream_failed',
        charge: '0',
        error_code: 'upstream_error',
        http_status: 502,
        attempts: entry.attempts.length,
      },
    ]);
  });

  test("the caller's own id for it is kept", async () => {
    const bytes = chatRequest(gateway.keys.completions, { model: 'plain', messages: [{}] }, [
      'x-client-request-id: mine-7',
    ]);
    const traceId = (await exchange(gateway.apiOrigin, bytes)).headers.get('x-trace-id');
    expect((await usage(`?trace_id=${traceId}`)).data).toMatchObject([{ client_request_id: 'mine-7' }]);
  });

  test("a key sees what it has spent itself, and the account's balance only where the account says so", async () => {
    const { one = '', two = '', other = '' } = gateway.moreKeys;
    const before = await usage('', other);
    expect(before).toMatchObject({ balance: '0', balance_nano_usd: 0, balance_of: 'key' });
    const spent = await usage('', gateway.keys.completions);
    expect(spent.balance_nano_usd).toBe(-spent.usage.total.charge_nano_usd);
    const body = { model: 'plain', messages: [{ role: 'user', content: 'one' }] };
    expect((await exchange(gateway.apiOrigin, chatRequest(one, body))).status).toBe(200);
    const ofOne = await usage('', one);
    const ofTwo = await usage('', two);
    expect(ofOne.usage.total.charge_nano_usd).toBeGreaterThan(0);
    expect([ofOne, ofTwo]).toMatchObject([
      { balance_nano_usd: -ofOne.usage.total.charge_nano_usd, balance_of: 'account' },
      { balance_nano_usd: -ofOne.usage.total.charge_nano_usd, balance_of: 'account' },
    ]);
  });

  test("another key's call is invisible", async () => {
    const { entry } = await callOnce(gateway, 'plain', 'json');
    for (const key of [gateway.moreKeys['other'] ?? '', gateway.keys.messages]) {
      const seen = await usage(`?trace_id=${entry.traceId}`, key);
      expect(seen).toMatchObject({
        data: [],
        model_stats: [],
        daily_usage: [],
        usage: { total: { calls: 0 } },
      });
    }
  });
});

test('models that a key makes up are one line of its sums, and a key that may not call one is told no more', async () => {
  const key = gateway.moreKeys['inventive'] ?? '';
  const names = Array.from({ length: 150 }, (_, at) => `made-up-${at}`);
  for (const model of [...names, 'x'.repeat(5000)])
    expect((await exchange(gateway.apiOrigin, chatRequest(key, { model, messages: [{}] }))).status).toBe(404);
  expect(
    (await exchange(gateway.apiOrigin, chatRequest(key, { model: 'plain', messages: [{}] }))).status,
  ).toBe(200);
  const { model_stats, data } = await usage('?limit=200', key);
  expect(model_stats.map(({ model, calls }) => [model, calls])).toEqual([
    ['(unknown)', 151],
    ['plain', 1],
  ]);
  // Each call still says what it asked for, in so many characters.
  expect(data.map(({ model }) => model).toSorted()).toEqual([...names, 'plain', 'x'.repeat(200)].toSorted());
  // What the router has learned of models is kept by their names.
  using database = new DatabaseSync(join(gateway.dataDir, 'headgate.sqlite'), { readOnly: true });
  const learned = () =>
    database
      .prepare('SELECT key FROM router_states')
      .all()
      .map((row) => String(row['key']));
  await expect.poll(() => learned().some((name) => name.includes('plain')), { timeout: 10_000 }).toBe(true);
  expect(learned().filter((name) => /made-up|xxx/.test(name))).toEqual([]);
  const first = await usage('?model_stats_limit=1', key);
  expect([first.model_stats.map(({ model }) => model), first.model_stats_next_cursor]).toEqual([
    ['(unknown)'],
    '(unknown)',
  ]);
  const second = await usage(`?model_stats_limit=1&model_stats_cursor=${first.model_stats_next_cursor}`, key);
  expect([second.model_stats.map(({ model }) => model), second.model_stats_next_cursor]).toEqual([
    ['plain'],
    null,
  ]);
});

test('pages by cursor give every call once, newest first', async () => {
  const key = gateway.moreKeys['paged'] ?? '';
  for (let call = 0; call < 7; call++) {
    await exchange(gateway.apiOrigin, chatRequest(key, { model: 'plain', messages: [{}] }));
  }
  const expected = (await entriesOf(gateway))
    .filter(({ keyId }) => keyId === 'paged')
    .map(({ traceId }) => traceId);
  const seen: string[] = [];
  const sizes: number[] = [];
  let cursor: string | null = null;
  do {
    const page: z.infer<typeof usageAnswer> = await usage(
      `?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`,
      key,
    );
    seen.push(...page.data.map(({ trace_id }) => trace_id));
    sizes.push(page.data.length);
    expect(page.has_more).toBe(page.next_cursor !== null);
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(sizes).toEqual([3, 3, 1]);
  expect(seen).toEqual(expected.toReversed());
});

describe('calls that a filter lets through', () => {
  const key = () => gateway.moreKeys['mixed'] ?? '';
  const models = ['plain', 'failing', 'plain', 'nonesuch', 'cached', 'plain', '=HYPERLINK("http://x")'];

  beforeAll(async () => {
    for (const model of models)
      await exchange(
        gateway.apiOrigin,
        chatRequest(key(), { model, messages: [{}] }, ['x-client-request-id: @SUM(1)']),
      );
  });

  test.each([
    ['?model=plain', 3],
    ['?model=plain&billed=false', 0],
    ['?model=nonesuch', 1],
    ['?model=(unknown)', 2],
    ['?model=nobody-asked-for-it', 0],
    ['?billed=true', 4],
    ['?billed=false', 3],
    ['?status=complete', 4],
    ['?status=failed', 3],
    ['?status=failed&billed=true', 0],
    ['?status=open', 0],
    ['?model=failing&status=failed&billed=false&days=1', 1],
  ])('%s', async (query, count) => {
    const { data, has_more, next_cursor, usage: sums } = await usage(query, key());
    expect([data.length, has_more, next_cursor]).toEqual([count, false, null]);
    // Sums are of all calls, whichever of them are shown.
    expect(sums.total.calls).toBe(models.length);
  });

  test('come in pages, each of them once', async () => {
    const first = await usage('?model=plain&limit=2', key());
    expect([first.data.length, first.has_more]).toEqual([2, true]);
    const second = await usage(`?model=plain&limit=2&cursor=${first.next_cursor}`, key());
    expect([second.data.length, second.has_more]).toEqual([1, false]);
    expect(first.data.map(({ trace_id }) => trace_id)).not.toContain(second.data[0]?.trace_id);
  });

  test('as a table that spreadsheets open without running what callers wrote', async () => {
    const answer = await ask('?format=csv', key());
    const today = new Date().toISOString().slice(0, 10);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(answer.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="usage-\\d{4}-\\d\\d-\\d\\d-${today}.csv"$`),
    );
    const [titles = '', ...lines] = answer.body.toString().split('\r\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(models.length);
    expect(titles).toMatch(/^trace_id,started_at,.*,charge,charge_nano_usd,/);
    expect(lines[0]).toContain(`"'=HYPERLINK(""http://x"")"`);
    for (const line of lines) expect(line).toContain(",'@SUM(1),");
    const place = titles.split(',').indexOf('charge_nano_usd');
    const charges = lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[place]), 0);
    expect(charges).toBe((await usage('', key())).usage.total.charge_nano_usd);
    const part = await ask('?format=csv&limit=4', key());
    const cursor = part.headers.get('x-headgate-next-cursor');
    const rest = await ask(`?format=csv&limit=4&cursor=${cursor}`, key());
    expect(rest.headers.get('x-headgate-next-cursor')).toBeUndefined();
    const both = [part, rest].flatMap(({ body }) => body.toString().split('\r\n').slice(1, -1));
    expect(both).toEqual(lines);
  });
});

describe('the keys of an account', () => {
  const refused = async (query: string, key = '') => {
    const answer = await ask(query, key);
    const { error } = JSON.parse(answer.body.toString()) as { error: { param: string; message: string } };
    return [answer.status, error.param, error.message];
  };

  test('read about each other by name or id where the account says so', async () => {
    const { one = '', two = '' } = gateway.moreKeys;
    const own = await usage('', one);
    expect(own.usage.total.calls).toBeGreaterThan(0);
    for (const query of ['?key=one', '?key=one&days=3']) {
      const seen = await usage(query, two);
      expect([seen.key, seen.usage.total, seen.data]).toEqual(['one', own.usage.total, own.data]);
    }
    expect((await usage('?key=two', two)).key).toBe('two');
  });

  test('a name that several have is refused with their ids', async () => {
    const { one = '' } = gateway.moreKeys;
    expect(await refused('?key=two', one)).toEqual([400, 'key', expect.stringMatching(/: twin, two\.$/)]);
    expect((await usage('?key=twin', one)).key).toBe('two');
  });

  test('a key of another account is none, and no key learns of others where the account does not say so', async () => {
    const { one = '', closed = '', other = '' } = gateway.moreKeys;
    expect(await refused('?key=closed', one)).toEqual([400, 'key', expect.stringMatching(/same account/)]);
    for (const query of ['?key=one', '?key=paged', '?key=nonesuch'])
      expect(await refused(query, closed)).toEqual([
        400,
        'key',
        "'key' can only be the calling key's own name or id: its account does not show its keys to each other.",
      ]);
    expect((await usage('?key=other', other)).key).toBe('other');
  });
});

describe('days', () => {
  test.each(['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati'])(
    'a call is on the day it is in %s',
    async (zone) => {
      const { entry } = await callOnce(gateway, 'plain', 'json');
      const day = new Intl.DateTimeFormat('sv', { timeZone: zone }).format(entry.startedAtMs);
      const { data, daily_usage } = await usage(`?start_date=${day}&end_date=${day}&timezone=${zone}`);
      expect(data.map(({ trace_id }) => trace_id)).toContain(entry.traceId);
      expect(daily_usage.map(({ date }) => date)).toEqual([day]);
    },
  );

  test('yesterday has none of them', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const { data, daily_usage, usage: sums } = await usage(`?start_date=${yesterday}&end_date=${yesterday}`);
    expect([data, daily_usage]).toEqual([[], []]);
    expect(sums.total.calls).toBeGreaterThan(0);
  });

  test.each([
    ['start_date', '2026-02-30'],
    ['start_date', 'yesterday'],
    ['end_date', '2026-1-1'],
    ['timezone', 'Mars/Olympus'],
    ['timezone', '+02:00'],
    ['days', '0'],
    ['days', '91'],
    ['days', '1e1'],
    ['trace_id', 'abc'],
    ['trace_id', "' OR 1=1 --"],
    ['limit', '0'],
    ['limit', '201'],
    ['cursor', 'x'],
    ['model_stats_limit', '1001'],
    ['model_stats_cursor', 'x'.repeat(201)],
    ['colour', 'red'],
  ])('%s=%s is refused by name', async (name, value) => {
    const answer = await ask(`?${name}=${encodeURIComponent(value)}`);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: { code: 'invalid_request', param: name },
    });
  });

  test('an end before the start, and too long a span, are refused', async () => {
    for (const query of [
      '?start_date=2026-03-02&end_date=2026-03-01',
      '?start_date=2026-01-01&end_date=2026-12-31',
      '?limit=1&limit=2',
    ]) {
      expect((await ask(query)).status).toBe(400);
    }
  });
});
