import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;
let isBroken = true;
/** An upstream that is broken until it is said otherwise. */
const upstream = createServer((request, response) => {
  request.resume();
  const words = { error: { message: 'The <b>database</b> is gone', type: 'server_error' } };
  const answer = {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  };
  response
    .writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' })
    .end(JSON.stringify(isBroken ? words : answer));
});

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await new Promise((resolve) => upstream.once('listening', resolve));
  house = await openHouse();
  await ask('POST', '/channels', {
    ...{ id: 'mine', provider: 'openai', allowPrivate: true, secret: 'sk-x' },
    baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
    models: { 'house-model': { upstream: 'up', cost: { input: '1', output: '2' } } },
  });
  await ask('POST', '/prices', { prices: { 'house-model': { input: '2', output: '4' } } });
});
afterAll(async () => {
  upstream.close();
  upstream.closeAllConnections();
  await house[Symbol.asyncDispose]();
});

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const token = readFileSync(join(house.dataDir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${house.gateway.consoleOrigin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text === '' ? null : JSON.parse(text);
}

async function call(): Promise<string> {
  const { selfConfiguration, apiOrigin } = house.gateway;
  const key = selfConfiguration.kind === 'demo' ? selfConfiguration.keys.completions : '';
  const answer = await fetch(`${new URL(apiOrigin).origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'house-model', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  return answer.headers.get('x-trace-id') ?? '';
}

async function look(page: Page, name: string, { width, theme, language }: View): Promise<void> {
  await settled(page);
  await screenshot(page, `${name}-${width}-${theme}-${language}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

test('a failing channel is followed as it fails: its state, its errors with their calls, and a lift', async () => {
  const list = await house.openPage('operator', '/channels?search=mine');
  await list.getByText('Up', { exact: true }).first().waitFor();
  const page = await house.openPage('operator', '/channels/mine');
  await page.getByText('No calls in the last 24 hours').waitFor();
  await page.getByText('No errors are known of').waitFor();
  const traces = [await call(), await call(), await call()];
  // The stream of both pages tells of it: neither is loaded again.
  await list.getByRole('row').getByText('Down', { exact: true }).waitFor({ timeout: 10_000 });
  await page.getByText('Out of service').first().waitFor({ timeout: 10_000 });
  await page.getByText('The <b>database</b> is gone').first().waitFor();
  // Counts are written every ten seconds.
  const errors = page.getByRole('table', { name: 'Last errors' });
  await expect
    .poll(
      async () => {
        await page.reload();
        await settled(page);
        return errors.getByText('Server error').count();
      },
      { timeout: 30_000, interval: 2_000 },
    )
    .toBeGreaterThan(0);
  await page.getByRole('figure').first().waitFor();
  await screenshot(page, 'channel-failing');
  await expectAccessible(page);
  isBroken = false;
  await page.getByRole('button', { name: 'Lift every block' }).click();
  await page.getByText(/block(s)? lifted/).waitFor();
  await page.getByText('Serving', { exact: true }).first().waitFor();
  await call();
  await errors.getByRole('link').first().click();
  await page.waitForURL(/\/calls\/[0-9a-f]{32}$/);
  expect(traces).toContain(page.url().slice(-32));
  await page.context().close();
  await list.context().close();
});

test('a channel is changed as a form, with what is particular to its models, and as text', async () => {
  const page = await house.openPage('operator', '/channels/mine');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('On the public status page').selectOption('false');
  await page.getByRole('button', { name: 'What is particular to house-model here' }).click();
  await page.getByLabel('Context window there').fill('4096');
  await page.getByRole('checkbox', { name: 'Structured output' }).check();
  await page.getByLabel('Cached input').fill('0.25');
  await page.getByRole('button', { name: 'Add a model' }).click();
  await page.getByRole('textbox', { name: 'Public name' }).last().fill('another');
  await screenshot(page, 'channel-edit');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await ask('GET', '/channels/mine')).toMatchObject({
    written: {
      listed: false,
      models: {
        another: {},
        'house-model': {
          ...{ upstream: 'up', contextWindow: 4096, lacks: ['structured-output'] },
          cost: { input: '1', output: '2', cacheRead: '0.25' },
        },
      },
    },
  });
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'YAML' }).click();
  const text = page.getByRole('dialog').getByRole('textbox');
  const yaml = await text.inputValue();
  expect(yaml).toContain('contextWindow: 4096');
  await text.fill(yaml.replace('    listed: false', '    listedd: false'));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'did you mean' }).first().waitFor();
  await screenshot(page, 'channel-edit-yaml');
  await expectAccessible(page);
  await text.fill(yaml.replace('    listed: false', '    maxConcurrency: 9'));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(house.gateway.catalogue.current.channels.get('mine')).toMatchObject({
    maxConcurrency: 9,
    listed: null,
  });
  await page.context().close();
});

test('a drained channel says so, and what still runs there', async () => {
  const page = await house.openPage('operator', '/channels/mine');
  await page.getByRole('button', { name: 'Switch' }).click();
  await page.getByRole('menuitem', { name: 'Drain' }).click();
  await page.getByText('It is being drained').waitFor();
  await screenshot(page, 'channel-draining');
  await expectAccessible(page);
  const list = await house.openPage('operator', '/channels?state=draining');
  await list.getByRole('row').getByText('Draining', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Switch' }).click();
  await page.getByRole('menuitem', { name: 'Turn on' }).click();
  await page.getByText('It is being drained').waitFor({ state: 'detached' });
  await page.context().close();
  await list.context().close();
});

test.each<View>([
  { width: 1440, theme: 'light', language: 'en' },
  { width: 1440, theme: 'dark', language: 'zh' },
  { width: 360, theme: 'dark', language: 'en' },
  { width: 360, theme: 'light', language: 'zh' },
])('the day of a channel is clean at $width px, $theme, $language', async (view) => {
  const id = 'simulated-a';
  const page = await house.openPage('operator', `/channels/${id}`, view);
  await page.getByRole('figure').first().waitFor();
  await look(page, 'channel-day', view);
  await page.goto(`${house.gateway.consoleOrigin}/channels`);
  await look(page, 'channels-day', view);
  await page.context().close();
});
