import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled } from './support/house.ts';

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let house: House;
let receiver: Server;
let url = '';
const posted: Posted[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      posted.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in?token=hidden`;
  house = await openHouse();
});
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  receiver.closeAllConnections();
  receiver.close();
});

/** The secrets that have signed a message. */
function signersOf({ headers, body }: Posted, secrets: readonly string[]): readonly string[] {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return secrets.filter((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    return headers['webhook-signature']?.includes(signature);
  });
}

async function takeSecret(page: Page): Promise<string> {
  const secret = (await page.locator('[data-secret]').innerText()).trim();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'I have it' }).click();
  await page.locator('[data-secret]').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
  return secret;
}

async function sendTest(page: Page): Promise<Posted> {
  const before = posted.length;
  await page.getByRole('button', { name: 'Send a test message' }).click();
  await page.getByText('Its receiver has taken the test message').waitFor();
  const [message] = posted.slice(before);
  if (message === undefined) throw new Error('nothing was posted');
  await page.reload();
  await settled(page);
  return message;
}

const choose = async (page: Page, item: string) => {
  await page.locator('main').getByRole('button', { name: 'More actions' }).first().click();
  await page.getByRole('menuitem', { name: item }).click();
};

test('a webhook is made, told of, changed, given another secret, turned off and deleted', async () => {
  const page = await house.openPage('operator', '/webhooks');
  await page.getByText('No webhook yet').waitFor();
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('ops');
  await form.getByLabel('Address', { exact: false }).first().fill(url);
  await screenshot(page, 'webhook-new');
  await expectAccessible(page);
  await form.getByRole('button', { name: 'New webhook' }).click();
  await form.getByText('must be https, unless allowPrivate is true').waitFor();
  await form.getByLabel('Description').fill('The room of operators');
  await form.getByLabel('Its address may be of a private network').check();
  await form.getByRole('button', { name: 'New webhook' }).click();
  await page.locator('[data-secret]').waitFor();
  await screenshot(page, 'webhook-secret');
  const first = await takeSecret(page);
  await page.locator('main').getByRole('link', { name: /ops/ }).first().click();
  await page.getByRole('heading', { name: 'ops' }).waitFor();
  expect(signersOf(await sendTest(page), [first])).toEqual([first]);

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Least severity').selectOption('error');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Error and above').waitFor();

  await choose(page, 'Rotate secret');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
  const second = await takeSecret(page);
  await page.getByText('The secret before it signs until').waitFor();
  expect(signersOf(await sendTest(page), [first, second])).toEqual([first, second]);

  await choose(page, 'Turn off');
  await page.getByText('turned off').waitFor();
  await screenshot(page, 'webhook-off');
  await choose(page, 'Turn on');
  await page.getByText('ready', { exact: true }).waitFor();
  expect(await page.content()).not.toContain('token=');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('pre').getByText('name: ops').waitFor();

  await choose(page, 'Delete');
  await page.getByRole('dialog').getByRole('textbox').fill('ops');
  await page.getByRole('button', { name: 'Delete' }).last().click();
  await page.getByText('No webhook yet').waitFor();
  await page.context().close();
});

test.each([
  { width: 1440, theme: 'light', language: 'en' },
  { width: 360, theme: 'dark', language: 'zh' },
] as const)(
  'one that a file declares is shown and not changed, at $width px, $theme, $language',
  async (view) => {
    const declared = {
      ...{ id: 'declared', url: 'https://ops.example.com/x', description: null, kinds: ['bug'] as const },
      ...({ severity: 'info', enabled: true, allowPrivate: false, secret: null } as const),
    };
    const nothing = { providers: {}, accounts: [], groups: [], models: [], channels: [], keys: [] };
    await house.gateway.store.configuration.apply('file', { ...nothing, webhooks: [declared] }, Date.now());
    await expect.poll(async () => (await house.gateway.store.configuration.load()).webhooks?.length).toBe(1);
    const name = `${view.width}-${view.theme}-${view.language}`;
    const list = await house.openPage('operator', '/webhooks', view);
    await list.getByText('declared').first().waitFor();
    await screenshot(list, `webhooks-${name}`);
    await expectAccessible(list);
    await expectNoSidewaysScroll(list);
    await list.context().close();
    const page = await house.openPage('operator', '/webhooks/declared', view);
    await page.getByText('alerts.webhooks').first().waitFor();
    await page.getByRole('button', { name: /^(Show|显示)$/ }).click();
    await page.locator('pre').first().waitFor();
    await screenshot(page, `webhook-declared-${name}`);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    expect(await page.getByRole('button', { name: /^(Edit|编辑)$/ }).count()).toBe(0);
    await page.context().close();
  },
);
