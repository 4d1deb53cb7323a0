import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nanoUsd } from '../../packages/gateway/src/money/money.ts';
import type { CallEntry } from '../../packages/gateway/src/ports/ledger.ts';
import {
  sampleAttempt,
  sampleEntry,
  settle,
  traceId,
} from '../../packages/gateway/src/store/contract/samples.ts';
import { type House, openHouse, screenshot, settled } from './support/house.ts';
import type { Role } from './support/roles.ts';

/** Everything that only operators may know says this, or is this amount. */
const canary = 'canary';
const cost = nanoUsd(7_654_321n);
const costText = '0.007654321';

let house: House;
const nowMs = Date.now();

function call(at: number, changes: Partial<CallEntry> = {}): CallEntry {
  const startedAtMs = nowMs - (at + 1) * 7_000;
  return sampleEntry({
    traceId: startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12),
    ...{ startedAtMs, finishedAtMs: startedAtMs + 900, chargeNanoUsd: nanoUsd(12_000_000n) },
    ...{ accountId: 'demo', channelId: `${canary}-channel`, modelServed: 'alpha' },
    route: `[[0,"score","${canary}-channel",2,["${canary}-channel","alpha",0,1240000,9970,10000,"${canary}-rival","alpha",0,1240000,9970,10000],[]]]`,
    attempts: [
      sampleAttempt({
        ...{ channelId: `${canary}-rival`, upstreamModel: `${canary}-model`, costNanoUsd: nanoUsd(0n) },
        ...{ result: 'refused', detail: `${canary} words of an upstream`, httpStatus: 503, usage: null },
        ttftMs: null,
      }),
      sampleAttempt({
        ...{ n: 2, channelId: `${canary}-channel`, upstreamModel: `${canary}-model`, costNanoUsd: cost },
        ...{ upstreamRequestId: `${canary}-request`, statedCostNanoUsd: cost },
      }),
    ],
    ...changes,
  });
}

const own = Array.from({ length: 3 }, (_, at) => call(at, { tag: 'own-tag' }));
const [one = call(0)] = own;
const foreign = call(9, { accountId: 'elsewhere', tag: 'foreign-tag' });

beforeAll(async () => {
  house = await openHouse({ 'demo-history': 'false' });
  const { store } = house.gateway;
  await Promise.all([...own, foreign].map((entry) => settle(store.ledger, entry)));
  await store.catchUp();
});
afterAll(() => house[Symbol.asyncDispose]());

interface Heard {
  readonly page: Page;
  /** All that the page was answered, and all that it shows, in attributes too. */
  text(): Promise<string>;
}

async function hear(role: Role, path: string, width = 1440): Promise<Heard> {
  const page = await house.openPage(role, '/profile', { width });
  const answers: Promise<string>[] = [];
  page.on('response', (response) => {
    if (/\/api\/v1\/(?!live)/.test(response.url())) answers.push(response.text().catch(() => ''));
  });
  await page.goto(`${house.gateway.consoleOrigin}${path}`);
  await settled(page);
  return { page, text: async () => `${(await Promise.all(answers)).join('\n')}\n${await page.content()}` };
}

test.each(['viewer', 'member', 'admin'] as const)(
  'a %s reads the ledger without what it costs and where it goes',
  async (role) => {
    const { page, text } = await hear(role, '/ledger');
    await page.locator('tbody tr[data-index]').nth(2).waitFor();
    await screenshot(page, `ledger-${role}`);
    const heard = await text();
    expect(heard).not.toContain(canary);
    expect(heard).not.toContain(costText);
    expect(heard).not.toMatch(/"(channelId|cost|margin|plans|unknownCosts)"/);
    expect(heard).not.toContain('foreign-tag');
    expect(await page.getByRole('columnheader', { name: 'Channel' }).count()).toBe(0);
    expect(await page.getByLabel('Channel', { exact: true }).count()).toBe(0);
    await page.context().close();
  },
);

test.each(['viewer', 'member', 'admin'] as const)(
  'a %s reads a call without channels, costs and candidates',
  async (role) => {
    const { page, text } = await hear(role, `/calls/${one.traceId}`);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await screenshot(page, `call-${role}`);
    // Both attempts are told of, by their numbers.
    await page.getByText('Attempt 1').waitFor();
    await page.getByText('Attempt 2').waitFor();
    const heard = await text();
    expect(heard).not.toContain(canary);
    expect(heard).not.toContain(costText);
    expect(heard).not.toMatch(/"(channelId|upstreamModel|cost|statedCost|margin|plans|candidates)"/);
    for (const word of ['Upstream cost', 'Margin', 'Why it went there'])
      expect(await page.getByText(word, { exact: true }).count()).toBe(0);
    await page.context().close();
  },
);

test('an operator reads all of it, so that the words above are the right ones', async () => {
  const ledger = await hear('operator', '/ledger');
  await ledger.page.locator('tbody tr[data-index]').nth(3).waitFor();
  expect(await ledger.text()).toContain(`${canary}-channel`);
  await ledger.page.context().close();
  const story = await hear('operator', `/calls/${one.traceId}`);
  await story.page.getByText(`${canary}-rival`).first().waitFor();
  const heard = await story.text();
  for (const word of [costText, `${canary} words`, `${canary}-model`, '"plans"', '"margin"', 'Margin'])
    expect(heard).toContain(word);
  await story.page.context().close();
});

test('a call of another account is not there, and a filter of theirs finds nothing', async () => {
  for (const role of ['viewer', 'member'] as const) {
    const { page, text } = await hear(role, `/calls/${foreign.traceId}`);
    await page.getByText('There is no such call').waitFor();
    expect(await text()).not.toContain(canary);
    await page.goto(`${house.gateway.consoleOrigin}/ledger?tag=foreign-tag`);
    await page.getByText('No calls match').waitFor();
    const asked = await page.evaluate(async () => {
      const response = await fetch('/api/v1/calls?account=elsewhere');
      return response.text();
    });
    expect(JSON.parse(asked)).toMatchObject({ items: [] });
    expect(await text()).not.toContain(canary);
    await page.context().close();
  }
});

test.each(['viewer', 'member'] as const)('what a %s exports has no more than the page', async (role) => {
  const { page } = await hear(role, '/ledger');
  for (const format of ['csv', 'ndjson']) {
    const exported = await page.evaluate(async (format) => {
      const response = await fetch(`/api/v1/calls/export?format=${format}`);
      return { status: response.status, text: await response.text() };
    }, format);
    expect(exported.status).toBe(200);
    expect(exported.text.trim().split('\n')).toHaveLength(format === 'csv' ? 4 : 3);
    expect(exported.text).not.toMatch(/canary|channelId|\bcost\b|foreign-tag/);
  }
  await page.context().close();
});
