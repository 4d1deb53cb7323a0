import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;
let origin = '';
/** An upstream that knows one key, and lists a few models. */
const upstream = createServer((request, response) => {
  const isKnown = request.headers.authorization === 'Bearer sk-right';
  const list = {
    data: [
      { id: 'gpt-5-mini' },
      { id: 'gpt-5' },
      { id: 'a-model-with-a-name-that-is-longer-than-any-column-will-ever-be-wide-enough-for' },
    ],
  };
  const wrong = {
    error: {
      message: 'Incorrect API key <b>provided</b>',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    },
  };
  response
    .writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    .end(JSON.stringify(isKnown ? list : wrong));
});

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await new Promise((resolve) => upstream.once('listening', resolve));
  origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  house = await openHouse();
});
afterAll(async () => {
  upstream.close();
  upstream.closeAllConnections();
  await house[Symbol.asyncDispose]();
});

const views: readonly View[] = [
  { width: 1440, theme: 'light', language: 'en' },
  { width: 1440, theme: 'dark', language: 'zh' },
  { width: 360, theme: 'dark', language: 'en' },
  { width: 360, theme: 'light', language: 'zh' },
];

async function look(page: Page, name: string, { width, theme, language }: View): Promise<void> {
  await settled(page);
  await screenshot(page, `${name}-${width}-${theme}-${language}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

test('a channel is made of a preset: its key is wrong first, then its models are found and served', async () => {
  const page = await house.openPage('operator', '/channels');
  await page.getByRole('link', { name: 'New channel' }).first().click();
  await page.getByRole('searchbox', { name: /^Search \d+ providers/ }).fill('openai');
  await page.getByRole('button', { name: /^OpenAI api\.openai\.com/ }).click();
  await page.getByLabel('Id', { exact: false }).first().fill('mine');
  await page.getByLabel('Base URL').fill(origin);
  await page.getByLabel('Secret').fill('sk-wrong');
  await page.getByText('More options').click();
  await page.getByRole('switch').check();
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('The credential is refused.').waitFor();
  await screenshot(page, 'new-channel-refused');
  await expectAccessible(page);
  await page.getByLabel('Secret').fill('sk-right');
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('It works').waitFor();
  await page.getByRole('checkbox', { name: 'gpt-5-mini' }).check();
  await page.getByLabel('Public name: gpt-5-mini').fill('house-mini');
  await screenshot(page, 'new-channel-models');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Make the channel' }).click();
  await page.getByRole('heading', { name: 'mine' }).waitFor();
  await page.getByText('house-mini').first().waitFor();
  expect(
    house.gateway.catalogue.current.channels.get('mine')?.credentials.map(({ secret }) => secret),
  ).toEqual(['sk-right']);
  expect(await page.content()).not.toContain('sk-right');
  await screenshot(page, 'channel-made');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Priority').fill('seven');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'number' }).first().waitFor();
  await expectAccessible(page);
  await page.getByLabel('Priority').fill('7');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(house.gateway.catalogue.current.channels.get('mine')?.priority).toBe(7);
  await page.getByRole('button', { name: 'Switch' }).click();
  await page.getByRole('menuitem', { name: 'Turn off' }).click();
  await expect.poll(() => house.gateway.catalogue.current.channels.get('mine')?.enabled).toBe(false);
  await page.getByRole('button', { name: 'Switch' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await screenshot(page, 'channel-delete');
  await page.getByRole('dialog').getByRole('textbox').fill('mine');
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => house.gateway.catalogue.current.channels.has('mine')).toBe(false);
  await page.context().close();
});

test.each(views)('the pages of channels are clean at $width px, $theme, $language', async (view) => {
  const page = await house.openPage('operator', '/channels', view);
  await look(page, 'channels', view);
  await page.goto(`${house.gateway.consoleOrigin}/channels/new`);
  await page.getByRole('searchbox').waitFor();
  await look(page, 'channels-new', view);
  const [id = ''] = house.gateway.catalogue.current.channels.keys();
  await page.goto(`${house.gateway.consoleOrigin}/channels/${id}`);
  await look(page, 'channel', view);
  await page.goto(`${house.gateway.consoleOrigin}/channels?search=nothing-is-called-so`);
  await look(page, 'channels-none', view);
  await page.goto(`${house.gateway.consoleOrigin}/channels/not-there`);
  await look(page, 'channel-not-there', view);
  await page.context().close();
});
