import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf, entryOf } from './support/ledger.ts';
import { atOnce, callAs, statuses } from './support/limited-calls.ts';
import { runCommand } from './support/process.ts';
import { exchange, request } from './support/raw-http.ts';
import { errorCodeOf, type Surface, surfaces } from './support/surface-calls.ts';

/** One call costs so much, whatever it says: what is held is what is charged. */
const perCall = { input: '0', output: '0', perCall: '0.01' };
const models = {
  fixed: 'sim-fast+tokens=3',
  slow: 'sim-fast+tokens=3,ttft=400ms',
  words: 'sim-fast+tokens=20',
  endless: 'sim-fast+tokens=5000,rate=500/s',
};

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

/** Only this protocol is spoken upstream: all others are translated to it. */
const chatOnly = { 'chat-completions': '/chat/completions' };
const platforms = {
  'chat-completions': 'completions',
  responses: 'completions',
  messages: 'messages',
  'generate-content': 'native',
} as const;

describe.each(['plain', 'node'])('on the %s lane', (http) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    const streams = surfaces.flatMap((surface) =>
      (['own', 'chat'] as const).map((way) => {
        const budgets = { total: '0.0012' };
        return [`${surface}-${way}`, { group: platforms[surface], budgets }] as const;
      }),
    );
    gateway = await openTestGateway({
      channels: [
        { id: 'own', origin: simulator.origin, models },
        { id: 'chat', origin: simulator.origin, protocols: chatOnly, models: { translated: models.endless } },
      ],
      prices: {
        fixed: perCall,
        slow: perCall,
        words: { input: '1', output: '1' },
        endless: { input: '0', output: '1' },
        translated: { input: '0', output: '1' },
      },
      flags: { http },
      groups: { native: { budgets: { month: '0.02' } } },
      moreKeys: {
        budget: { budgets: { total: '0.05' } },
        spent: { budgets: { day: '0.01' } },
        minute: { limits: { requestsPerMinute: 3 } },
        tokens: { limits: { tokensPerMinute: 1_000 } },
        places: { limits: { concurrency: 2 } },
        prepaid: { account: 'prepaid' },
        account: { account: 'shared' },
        sibling: { account: 'shared' },
        messages: { group: 'messages', limits: { requestsPerMinute: 1, tokensPerMinute: 100_000 } },
        native: { group: 'native', limits: { requestsPerDay: 1 } },
        group: { group: 'native' },
        ...Object.fromEntries(streams),
      },
      accounts: { shared: { budgets: { total: '0.03' } }, prepaid: { prepaid: true } },
    });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  const chat = (keyId: string, model: string, more: object = {}) =>
    callAs(gateway, keyId, 'chat-completions', model, 'json', more);

  test('a budget for five calls admits five of two hundred and fifty, and its key can see why', async () => {
    const answers = await atOnce(250, () => chat('budget', 'fixed'));
    expect(statuses(answers)).toEqual({ 200: 5, 402: 245 });
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect(refused?.headers.get('retry-after')).toBeUndefined();
    expect(refused?.body.toString()).toContain('The total budget of this key does not cover this call');
    expect(refused?.body.toString()).toContain('$0 of $0.05 is left');
    expect(await entryOf(gateway, refused?.headers.get('x-trace-id'))).toMatchObject({
      status: 'failed',
      unbilledReason: 'refused_by_gateway',
      errorCode: 'insufficient_balance',
      chargeNanoUsd: 0n,
      attempts: [],
    });
    const key = gateway.moreKeys['budget'] ?? '';
    for (const path of ['/v1/usage', '/v1/models']) {
      const answer = await exchange(
        gateway.apiOrigin,
        request(`GET ${path}`, [`authorization: Bearer ${key}`]),
      );
      expect(answer.status).toBe(200);
    }
  });

  test('a balance is spent to its last cent, and what is credited can be spent at once', async () => {
    expect(statuses(await atOnce(5, () => chat('prepaid', 'fixed')))).toEqual({ 402: 5 });
    for (const cents of [4, 3]) {
      const words = ['accounts', 'credit', 'prepaid', `0.0${cents}`, '--reason', 'paid'];
      const { code, stderr } = await runCommand(words, { dataDir: gateway.dataDir });
      expect([code, stderr]).toEqual([0, '']);
      // What was refused a moment ago is remembered for a moment.
      await vi.waitFor(async () => expect((await chat('prepaid', 'fixed')).status).toBe(200), 5_000);
      const answers = await atOnce(50, () => chat('prepaid', 'fixed'));
      expect(statuses(answers)).toEqual({ 200: cents - 1, 402: 51 - cents });
    }
    await gateway.store.ledger.flush();
    await gateway.store.reports.catchUp();
    const balance = await gateway.store.reports.balance('prepaid');
    expect(balance.balanceNanoUsd).toBe(0n);
  });

  test('the keys of an account share its budget, and none is told what the others have spent', async () => {
    const answers = await atOnce(60, () => chat(Math.random() < 0.5 ? 'account' : 'sibling', 'fixed'));
    expect(statuses(answers)).toEqual({ 200: 3, 402: 57 });
    const words = answers.find(({ status }) => status === 402)?.body.toString();
    expect(words).toContain("The total budget of this key's account does not cover this call");
    expect(words).not.toContain('is left');
  });

  test('a budget of a day says when it begins anew', async () => {
    await chat('spent', 'fixed');
    const refused = await chat('spent', 'fixed');
    expect(refused.status).toBe(402);
    expect(refused.body.toString()).toMatch(/begins anew at \d{4}-\d{2}-\d{2}T00:00:00Z/);
  });

  test('three requests a minute are three, with what is left in the headers', async () => {
    const answers = await atOnce(30, () => chat('minute', 'words'));
    expect(statuses(answers)).toEqual({ 200: 3, 429: 27 });
    const admitted = answers.filter(({ status }) => status === 200);
    const left = admitted.map(({ headers }) => headers.get('x-ratelimit-remaining-requests'));
    expect(left.toSorted()).toEqual(['0', '1', '2']);
    const [refused] = answers.filter(({ status }) => status === 429);
    if (refused === undefined) throw new Error('none was refused');
    expect(errorCodeOf(refused, 'chat-completions')).toBe('rate_limited');
    const { headers } = refused;
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(62);
    expect(headers.get('x-ratelimit-limit-requests')).toBe('3');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^(\d+m)?[\d.]+m?s$/);
  });

  test('tokens of a minute are never more than its limit', async () => {
    const answers = [];
    for (let n = 0; n < 60; n++) answers.push(await chat('tokens', 'words', { max_tokens: 40 }));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.toString()).toContain('tokens per minute of this key is reached');
    const entries = await entriesOf(gateway, { keyId: 'tokens' });
    const used = entries.reduce((sum, { usage }) => sum + usage.inputFresh + usage.output, 0);
    expect(used).toBeLessThanOrEqual(1_000);
    expect(used).toBeGreaterThan(900);
  });

  test('places for concurrent calls are free again when calls end', async () => {
    for (let round = 0; round < 2; round++) {
      const answers = await atOnce(20, () => chat('places', 'slow'));
      expect(statuses(answers)).toEqual({ 200: 2, 429: 18 });
    }
  });

  test('each surface has its own headers and words', async () => {
    const once = await callAs(gateway, 'messages', 'messages', 'words');
    expect(once.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0');
    expect(once.headers.get('neutral-ratelimit-tokens-limit')).toBe('100000');
    const twice = await callAs(gateway, 'messages', 'messages', 'words');
    expect([twice.status, errorCodeOf(twice, 'messages')]).toEqual([429, 'rate_limited']);
    expect(twice.headers.get('anthropic-ratelimit-requests-reset')).toMatch(/^\d{4}-.*Z$/);
    await callAs(gateway, 'native', 'generate-content', 'words');
    const refused = await callAs(gateway, 'native', 'generate-content', 'words');
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.body.toString())).toMatchObject({
      error: {
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { violations: [{ subject: 'key', quotaId: 'RequestsPerDay' }] },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo' },
        ],
      },
    });
    // Hours away: SDKs are told not to come again.
    expect(refused.headers.get('x-should-retry')).toBe('false');
  });

  test('a budget of a group is refused on the native surface in its own words', async () => {
    const answers = await atOnce(40, () => callAs(gateway, 'group', 'generate-content', 'fixed'));
    expect(answers.filter(({ status }) => status === 402).length).toBeGreaterThan(37);
    const refused = answers.find(({ status }) => status === 402);
    expect(JSON.parse(refused?.body.toString() ?? '')).toMatchObject({
      error: { code: 402, details: [{ violations: [{ subject: 'group', quotaId: 'BudgetPerMonth' }] }] },
    });
  });

  test.concurrent.each(
    surfaces.flatMap((surface) => (['own', 'chat'] as const).map((way) => [surface, way] as const)),
  )('a stream of %s ends at its budget, on a channel of %s protocol', async (surface, way) => {
    const keyId = `${surface}-${way}`;
    const model = way === 'own' ? 'endless' : 'translated';
    const answer = await callAs(gateway, keyId, surface, model, 'stream', limitOf(surface));
    const text = answer.body.toString();
    expect([answer.status, answer.isWhole]).toEqual([200, false]);
    expect(errorCodeOf(answer, surface)).toBe('insufficient_balance');
    expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
    const entry = await entryOf(gateway, answer.headers.get('x-trace-id'));
    expect(entry).toMatchObject({
      status: 'limit_reached',
      unbilledReason: null,
      errorCode: 'insufficient_balance',
      attempts: [{ result: 'limit_reached' }],
    });
    expect(entry.chargeNanoUsd).toBeGreaterThan(1_100_000n);
    // A busy machine hands many words on at once; all of the answer would cost 5,000,000.
    expect(entry.chargeNanoUsd).toBeLessThanOrEqual(2_000_000n);
    const again = await callAs(gateway, keyId, surface, model, 'stream', limitOf(surface));
    expect(again.status).toBe(402);
  });
});

/** So few tokens that the first hold is covered, where the surface has to name a limit. */
function limitOf(surface: Surface): object {
  return surface === 'messages' ? { max_tokens: 5_000 } : {};
}
