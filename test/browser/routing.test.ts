import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;

beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

const wide: View = { width: 1440, theme: 'light', language: 'en' };
const narrow: View = { width: 360, theme: 'dark', language: 'zh' };

async function look(page: Page, name: string): Promise<void> {
  await settled(page);
  await screenshot(page, name);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

/** A call of the demo, as its caller would make it. */
async function call(model: string): Promise<string> {
  const { selfConfiguration, apiOrigin } = house.gateway;
  if (selfConfiguration.kind !== 'demo') throw new Error('this is no demo');
  const answer = await fetch(`${apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${selfConfiguration.keys.completions}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  await answer.text();
  return answer.headers.get('x-trace-id') ?? '';
}

const words = {
  en: {
    ...{ ask: 'Show the plan', needs: 'It needs', tools: 'Tools', candidates: 'Candidates' },
    ...{ full: 'The call in full', wrong: 'Calls that went wrong' },
  },
  zh: {
    ...{ ask: '显示计划', needs: '所需能力', tools: '工具', candidates: '候选' },
    ...{ full: '该调用的全部信息', wrong: '出错的调用' },
  },
} as const;

/** Chooses one of a list that opens while it is typed. */
async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('listbox').getByRole('option', { name, exact: true }).click();
  await page.keyboard.press('Tab');
}

test.each([wide, narrow])(
  'a plan is made for the shape of a call, and its address shows it again: %j',
  async (view) => {
    const page = await house.openPage('operator', '/routing', view);
    const { ask, needs, tools, candidates } = words[view.language ?? 'en'];
    const fields = page.getByRole('form').first();
    const [key = ''] = [...house.gateway.catalogue.current.keys.values()].map(({ caller }) => caller.keyId);
    await fields.getByRole('combobox').first().fill(key);
    await fields.getByRole('combobox').nth(1).fill('demo-fast');
    await fields.getByLabel(needs).click();
    await choose(page, tools);
    await page.getByRole('button', { name: ask }).click();
    await page.getByRole('heading', { name: candidates }).waitFor();
    await look(page, `routing-shape-${view.width}`);
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('key'), searchParams.get('model')]).toEqual([key, 'demo-fast']);
    await page.reload();
    await page.getByRole('heading', { name: candidates }).waitFor();
    await page.context().close();
  },
);

test.each([wide, narrow])('a call that was made is replayed from its address: %j', async (view) => {
  await call('no-such-model');
  const trace = await call('demo-fast');
  await house.gateway.store.catchUp();
  const { full, wrong } = words[view.language ?? 'en'];
  const page = await house.openPage('operator', `/routing?trace=${trace}`, view);
  await page.getByRole('link', { name: full }).waitFor();
  await look(page, `routing-past-${view.width}`);
  await page.getByRole('button', { name: wrong }).click();
  await page.getByRole('list', { name: wrong }).getByRole('button').first().click();
  await expect.poll(() => new URL(page.url()).searchParams.get('trace')).not.toBe(trace);
  await look(page, `routing-wrong-${view.width}`);
  await page.context().close();
});

test('every setting of a group is made, shown and changed in the console', async () => {
  const page = await house.openPage('operator', '/groups');
  await page.getByRole('button', { name: 'New group' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: /^Id/ }).fill('lab');
  await dialog.getByLabel('Name', { exact: true }).fill('The lab');
  await dialog.getByLabel('Multiplier').fill('1.15');
  await dialog.getByLabel('Models', { exact: true }).fill('demo-fast');
  await choose(page, 'demo-fast');
  const [channel = ''] = house.gateway.catalogue.current.channels.keys();
  await dialog.getByLabel('Channels').fill(channel);
  await choose(page, channel);
  await dialog.getByLabel('Routing').selectOption('cost');
  await dialog.getByLabel('Hedging').check();
  await dialog.getByLabel('Rescue of broken streams').check();
  await dialog.getByLabel('A month').fill('40');
  await dialog.getByLabel('Alert at').fill('0.5');
  await dialog.getByLabel('Calls a minute').fill('60');
  await dialog.getByLabel('Limit a model').selectOption('demo-fast');
  await dialog.getByRole('group', { name: 'demo-fast' }).getByLabel('Calls at once').fill('2');
  await dialog.getByLabel('Time zone').fill('Europe/Berlin');
  await screenshot(page, 'group-form');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'New group' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.goto(`${house.gateway.consoleOrigin}/groups/lab`);
  await page.getByRole('meter', { name: 'Taken of the limit: Calls at once, demo-fast' }).waitFor();
  await look(page, 'group-made');
  const made = async () => (await house.gateway.store.keys.choices([])).groups.find(({ id }) => id === 'lab');
  expect(await made()).toMatchObject({
    ...{ name: 'The lab', multiplierPpm: 1_150_000n, models: ['demo-fast'], timeZone: 'Europe/Berlin' },
    routing: { preset: 'cost', channels: [channel], hedging: true, rescue: 'continue' },
    budgets: { month: 40_000_000_000n, alertAtPpm: 500_000 },
    limits: { requestsPerMinute: 60, models: { 'demo-fast': { concurrency: 2 } } },
  });
  await page.getByRole('tab', { name: 'Change' }).click();
  await page.getByRole('button', { name: 'Take away the limits of demo-fast' }).click();
  await page.getByLabel('A month').fill('');
  await page.getByLabel('Multiplier').fill('one');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'decimal' }).first().waitFor();
  await page.getByLabel('Multiplier').fill('2');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await made())?.multiplierPpm).toBe(2_000_000n);
  expect(await made()).toMatchObject({ budgets: null, limits: { requestsPerMinute: 60 } });
  expect((await made())?.limits?.models).toBeUndefined();
  await page.context().close();
});
