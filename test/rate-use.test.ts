import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { atOnce, callAs, statuses } from './support/limited-calls.ts';
import { runCommand } from './support/process.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const models = { fast: 'sim-fast+tokens=3', slow: 'sim-fast+tokens=3,ttft=2000ms' };
  gateway = await openTestGateway({
    channels: [{ id: 'main', origin: simulator.origin, models }],
    moreKeys: {
      watched: {
        account: 'payer',
        limits: {
          ...{ requestsPerMinute: 60, tokensPerMinute: 100_000, requestsPerDay: 500, concurrency: 8 },
          models: { slow: { concurrency: 4 } },
        },
      },
      free: { account: 'payer' },
    },
    accounts: { payer: { limits: { imagesPerMinute: 7, requestsPerDay: 9 } } },
    groups: { completions: { limits: { concurrency: 20 } } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

interface Rate {
  readonly rate: string;
  readonly model: string | null;
  readonly amount: number;
  readonly used: number;
  readonly held: number;
}

async function ratesOf(
  path: string,
): Promise<Readonly<Record<string, Pick<Rate, 'amount' | 'held' | 'used'>>>> {
  const token = readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${gateway.consoleOrigin}/api/v1${path}/rates`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  const { rates } = (await answer.json()) as { readonly rates: readonly Rate[] };
  return Object.fromEntries(
    rates.map(({ rate, model, ...figures }) => [model === null ? rate : `${rate} of ${model}`, figures]),
  );
}

const watched = () => ratesOf('/keys/watched');

test('the console tells what is used of each rate, and what calls under way hold', async () => {
  expect(await watched()).toEqual({
    requestsPerMinute: { amount: 60, used: 0, held: 0 },
    tokensPerMinute: { amount: 100_000, used: 0, held: 0 },
    requestsPerDay: { amount: 500, used: 0, held: 0 },
    concurrency: { amount: 8, used: 0, held: 0 },
    'concurrency of slow': { amount: 4, used: 0, held: 0 },
  });
  const fast = await atOnce(2, () => callAs(gateway, 'watched', 'chat-completions', 'fast'));
  expect(statuses(fast)).toEqual({ 200: 2 });
  // Uses are told to the store once a second; what is leased and idle is nobody's use.
  await vi.waitFor(async () => {
    const { requestsPerMinute, requestsPerDay, concurrency, tokensPerMinute } = await watched();
    expect(requestsPerMinute).toEqual({ amount: 60, used: 2, held: 0 });
    expect(requestsPerDay).toEqual({ amount: 500, used: 2, held: 0 });
    expect(concurrency).toEqual({ amount: 8, used: 0, held: 0 });
    expect(tokensPerMinute).toMatchObject({ held: 0 });
    expect(tokensPerMinute?.used).toBeGreaterThan(0);
  }, 10_000);
  const slow = atOnce(3, () => callAs(gateway, 'watched', 'chat-completions', 'slow'));
  await vi.waitFor(async () => {
    const rates = await watched();
    expect(rates['concurrency']).toMatchObject({ used: 0, held: 3 });
    expect(rates['concurrency of slow']).toMatchObject({ used: 0, held: 3 });
    expect(rates['tokensPerMinute']?.held).toBeGreaterThan(0);
  }, 10_000);
  expect(await ratesOf('/groups/completions')).toEqual({ concurrency: { amount: 20, used: 0, held: 3 } });
  await slow;
  expect((await watched())['concurrency']).toMatchObject({ used: 0, held: 0 });
  await vi.waitFor(
    async () =>
      expect(await ratesOf('/accounts/payer')).toEqual({
        imagesPerMinute: { amount: 7, used: 0, held: 0 },
        requestsPerDay: { amount: 9, used: 5, held: 0 },
      }),
    10_000,
  );
  expect(await ratesOf('/keys/free')).toEqual({});
}, 60_000);

test('commands beside the gateway tell use and what it has taken apart', async () => {
  await callAs(gateway, 'watched', 'chat-completions', 'fast');
  const shown = async (...words: readonly string[]) => {
    const { code, stdout } = await runCommand(words, { dataDir: gateway.dataDir });
    expect(code).toBe(0);
    return stdout;
  };
  const text = await shown('keys', 'show', 'watched');
  expect(text).toMatch(/limit\s+models\s+at most\s+used\s+held/i);
  // The gateway has leased places for all calls that there may be at once: none of them is a call.
  expect(text).toMatch(/concurrent calls\s+all\s+8\s+–\s+[1-8]\b/);
  expect(text).toContain('Held: taken by gateways for calls that run or come');
  const { rates } = JSON.parse(await shown('keys', 'show', 'watched', '--json')) as {
    rates: readonly Rate[];
  };
  const requests = rates.find(({ rate }) => rate === 'requestsPerDay');
  expect(requests?.used).toBeGreaterThanOrEqual(5);
  expect(await shown('accounts', 'show', 'payer')).toMatch(/images per minute\s+all\s+7\s+0\s+0/);
}, 60_000);
